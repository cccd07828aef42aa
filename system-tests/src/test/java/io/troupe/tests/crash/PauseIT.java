package io.troupe.tests.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.api.LeaseKeepAliveRequest;
import io.etcd.jetcd.api.LeaseKeepAliveResponse;
import io.grpc.stub.StreamObserver;
import io.troupe.tests.process.Clusters;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks;
import io.troupe.tests.process.TestJdks.Jdk;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that is paused must not expire leases whose owners renew them. */
@Clusters
@Tag("full")
@HeapIndependent
class PauseIT {
  private static final int LEASES = 20;
  private static final long SEED = 3;

  private final Path temp;
  private final Jdk jdk;
  private final Queue<String> lost = new ConcurrentLinkedQueue<>();

  /** The leases from 1 to this one are granted. */
  private volatile int granted;

  PauseIT(@TempDir Path temp) {
    this.temp = temp;
    this.jdk = TestJdks.all().get(0);
  }

  @Test
  void pausedTimeExpiresNoLease() throws Exception {
    ScheduledExecutorService owners = Executors.newScheduledThreadPool(1);
    try (NodeProcess member =
            NodeProcess.member(jdk, temp, CrashCampaign.QUICK_START).start().awaitReady();
        EtcdClient client = new EtcdClient(member.port(), EtcdClient.SHORT_DEADLINE)) {
      StreamObserver<LeaseKeepAliveRequest> renewals = client.keepAlive(new Answers());
      // Twice in each TTL: in time, unless the pause counted. On a slow machine the first leases
      // need it before the last ones are granted.
      ScheduledFuture<?> renewing =
          owners.scheduleAtFixedRate(() -> renewGranted(renewals), 0, 900, TimeUnit.MILLISECONDS);
      for (int i = 1; i <= LEASES; i++) {
        client.grant(i, 2 + i % 2);
        granted = i;
        client.put("owned" + i, "by lease " + i, i);
      }
      Random random = new Random(SEED);
      for (long pauseMs :
          List.of(5000L, 1300L, 1300L, 1300L, 1300L, 1300L, 1300L, 1300L, 1300L, 1950L, 5000L)) {
        Pause.millis(700 + random.nextInt(900));
        member.pause();
        Pause.millis(pauseMs);
        member.resume();
        Pause.millis(700);
        assertThat(client.range("owned", "ownee", 0).getKvsCount())
            .as("keys of leases after a pause of %s ms", pauseMs)
            .isEqualTo(LEASES);
        assertThat(lost).as("leases reported as not found after %s ms", pauseMs).isEmpty();
      }
      renewing.cancel(false);
      Awaitility.await("leases without renewals expire")
          .atMost(Duration.ofSeconds(30))
          .until(() -> client.range("owned", "ownee", 0).getKvsCount() == 0);
    } finally {
      owners.shutdownNow();
    }
  }

  private void renewGranted(StreamObserver<LeaseKeepAliveRequest> renewals) {
    int last = granted;
    for (int i = 1; i <= last; i++) {
      renewals.onNext(LeaseKeepAliveRequest.newBuilder().setID(i).build());
    }
  }

  private final class Answers implements StreamObserver<LeaseKeepAliveResponse> {
    @Override
    public void onNext(LeaseKeepAliveResponse answer) {
      if (answer.getTTL() <= 0) {
        lost.add("lease " + answer.getID());
      }
    }

    @Override
    public void onError(Throwable ended) {
      // End of the test: the connection closes with its client.
    }

    @Override
    public void onCompleted() {
      // As above.
    }
  }
}
