package io.troupe.node.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.node.process.Clusters;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes that wait when their leader is stopped, and comes back or not. Nothing repeats them. */
@Clusters
class LostLeaderIT {
  private static final Logger LOG = LoggerFactory.getLogger(LostLeaderIT.class);
  private static final Duration PAUSE = Duration.ofSeconds(8);
  private static final int WRITES = 10;

  /** The aim is 1 s; a machine that runs other tests beside this one may need longer. */
  private static final long MAX_AFTER_RESUME_MS = 4_000;

  /** A write and what came of it. */
  private record Write(String key, CompletableFuture<Ended> ended) {}

  /** The end of a write: status of HTTP, body, and {@link System#nanoTime}. */
  private record Ended(int status, String body, long nanos) {}

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private ProcessCluster cluster = new ProcessCluster(Path.of(""));
  private int keys;

  @BeforeEach
  void start() throws IOException {
    cluster = new ProcessCluster(Files.createTempDirectory(Path.of("target"), "lost-leader-"));
    cluster.startNew("n1", "n2", "n3");
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  private List<Write> begin(String member, int count) {
    URI put = URI.create("http://" + cluster.endpoint(member) + "/v3/kv/put");
    List<Write> writes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String key = "k" + ++keys;
      String name = Base64.getEncoder().encodeToString(key.getBytes(StandardCharsets.UTF_8));
      HttpRequest request =
          HttpRequest.newBuilder(put)
              .POST(
                  HttpRequest.BodyPublishers.ofString(
                      "{\"key\":\"" + name + "\",\"value\":\"dg==\"}"))
              .build();
      writes.add(
          new Write(
              key,
              http.sendAsync(request, HttpResponse.BodyHandlers.ofString())
                  .thenApply(
                      reply -> new Ended(reply.statusCode(), reply.body(), System.nanoTime()))));
    }
    return writes;
  }

  private static String field(String json, String name) {
    Matcher found = Pattern.compile("\"" + name + "\":\"([0-9]+)\"").matcher(json);
    return found.find() ? found.group(1) : "0";
  }

  /** The member that all of them name as the leader. */
  private String awaitLeader() {
    AtomicReference<String> leader = new AtomicReference<>("");
    ProcessCluster.await("one leader")
        .until(
            () -> {
              Map<String, String> names = new TreeMap<>();
              Set<String> leaders = new TreeSet<>();
              for (String name : cluster.running()) {
                HttpRequest status =
                    HttpRequest.newBuilder(
                            URI.create(
                                "http://" + cluster.endpoint(name) + "/v3/maintenance/status"))
                        .POST(HttpRequest.BodyPublishers.ofString("{}"))
                        .build();
                String body = http.send(status, HttpResponse.BodyHandlers.ofString()).body();
                names.put(field(body, "member_id"), name);
                leaders.add(field(body, "leader"));
              }
              String known = names.getOrDefault(leaders.iterator().next(), "");
              leader.set(known);
              return leaders.size() == 1 && !known.isEmpty();
            });
    return Objects.requireNonNull(leader.get());
  }

  private String follower(String leader) {
    return cluster.running().stream()
        .filter(name -> !name.equals(leader))
        .findFirst()
        .orElseThrow();
  }

  /** The longest time from a moment to the end of one of the writes. */
  private static long longestMs(List<Write> writes, long fromNanos) throws Exception {
    long longest = 0;
    for (Write write : writes) {
      Ended ended = write.ended().get(30, TimeUnit.SECONDS);
      longest = Math.max(longest, TimeUnit.NANOSECONDS.toMillis(ended.nanos() - fromNanos));
    }
    return longest;
  }

  private static void assertAllDone(List<Write> writes) throws Exception {
    for (Write write : writes) {
      Ended ended = write.ended().get(30, TimeUnit.SECONDS);
      assertThat(ended.status()).as("%s: %s", write.key(), ended.body()).isEqualTo(200);
    }
  }

  @Test
  void writesGetResponsesSoonAfterPausedLeaderReturns() throws Exception {
    String leader = awaitLeader();
    String follower = follower(leader);
    assertAllDone(begin(leader, WRITES));
    assertAllDone(begin(follower, WRITES));
    long paused = System.nanoTime();
    List<Write> inFlight = begin(leader, WRITES);
    List<Write> forwarded = begin(follower, WRITES);
    cluster.process(leader).pause();
    List<Write> during = begin(leader, WRITES);
    long forwardedMs = longestMs(forwarded, paused);
    LOG.info("writes at a follower whose leader was paused: last answer after ms={}", forwardedMs);
    assertAllDone(forwarded);
    assertThat(forwardedMs).as("the next leader's first entry decides").isLessThan(5_000);

    ProcessCluster.await("the end of the pause")
        .until(() -> System.nanoTime() - paused > PAUSE.toNanos());
    List<Write> atTheEnd = begin(leader, WRITES);
    cluster.process(leader).resume();
    long resumed = System.nanoTime();
    List<Write> after = begin(leader, WRITES);
    List<Write> all = new ArrayList<>(inFlight);
    all.addAll(during);
    all.addAll(atTheEnd);
    all.addAll(after);
    long ms = longestMs(all, resumed);
    LOG.info("writes at a leader after SIGCONT: last answer after ms={}", ms);
    assertThat(ms).as("all writes have a response").isLessThan(MAX_AFTER_RESUME_MS);
    // What had not waited for the whole request timeout when the process stopped is done.
    assertAllDone(during);
    assertAllDone(atTheEnd);
    assertAllDone(after);
  }

  @Test
  void writesForwardedToALeaderThatIsKilledAreDoneWithTheNextLeader() throws Exception {
    String leader = awaitLeader();
    String follower = follower(leader);
    assertAllDone(begin(follower, WRITES));
    long killed = System.nanoTime();
    List<Write> writes = begin(follower, WRITES);
    cluster.process(leader).kill();
    writes.addAll(begin(follower, WRITES));
    long ms = longestMs(writes, killed);
    LOG.info("writes at a follower whose leader was killed: last answer after ms={}", ms);
    assertAllDone(writes);
    assertThat(ms).as("the next leader's first entry decides").isLessThan(5_000);
  }
}
