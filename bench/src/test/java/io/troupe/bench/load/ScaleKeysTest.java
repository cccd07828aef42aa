package io.troupe.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RequestOp;
import io.troupe.grpc.api.TxnRequest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ScaleKeysTest {
  private final ScaleKeys keys = new ScaleKeys(256, 1, false);

  private Set<ByteString> fill(int total) throws IOException {
    Set<ByteString> written = new HashSet<>();
    puts(keys, total).forEach(put -> written.add(put.getKey()));
    keys.written(total);
    return written;
  }

  @Test
  void fillsContinueWithoutRepeatingNames() throws IOException {
    Set<ByteString> all = fill(20_000);
    assertThat(all).hasSize(20_000);
    all.addAll(fill(50_050));
    assertThat(all).hasSize(50_050);
    assertThat(all).doesNotContain(PutRequest.parseFrom(keys.putNew()).getKey());
    assertThat(keys.written()).isEqualTo(50_051);
  }

  @Test
  void sortedFillsWriteTheSameKeysInOrderOfNames() throws IOException {
    ScaleKeys sorted = new ScaleKeys(256, 1, true);
    List<PutRequest> all = new ArrayList<>();
    for (int total : List.of(20_000, 50_050)) {
      List<PutRequest> step = puts(sorted, total);
      assertThat(step)
          .isSortedAccordingTo(Comparator.comparing(put -> put.getKey().toStringUtf8()));
      all.addAll(step);
      sorted.written(total);
    }
    assertThat(all).hasSize(50_050);
    assertThat(new HashSet<>(all)).isEqualTo(new HashSet<>(puts(keys, 50_050)));
  }

  private static List<PutRequest> puts(ScaleKeys keys, int total) throws IOException {
    List<PutRequest> puts = new ArrayList<>();
    FillKeys fill = keys.fill(total);
    for (byte[] request = fill.next(); request != null; request = fill.next()) {
      for (RequestOp op : TxnRequest.parseFrom(request).getSuccessList()) {
        puts.add(op.getRequestPut());
      }
    }
    return puts;
  }

  @Test
  void readsAndOverwritesHitWrittenKeys() throws IOException {
    Set<ByteString> all = fill(5_000);
    for (int i = 0; i < 1000; i++) {
      assertThat(all).contains(RangeRequest.parseFrom(keys.get()).getKey());
      PutRequest put = PutRequest.parseFrom(keys.overwrite());
      assertThat(all).contains(put.getKey());
      assertThat(put.getValue().size()).isEqualTo(256);
    }
  }

  @Test
  void earlierFillIsContinuedBehindNumbersThatItMayHaveUsed() throws IOException {
    Set<ByteString> all = fill(5_000);
    ScaleKeys later = new ScaleKeys(256, 2, false);
    later.adopt(5_000, 1_000);
    ByteString added = PutRequest.parseFrom(later.putNew()).getKey();
    assertThat(added).isEqualTo(ScaleKeys.name(6_000));
    all.add(added);
    assertThat(later.written()).isEqualTo(5_001);
    Set<ByteString> used = new HashSet<>();
    for (int i = 0; i < 20_000; i++) {
      used.add(RangeRequest.parseFrom(later.get()).getKey());
      used.add(PutRequest.parseFrom(later.overwrite()).getKey());
    }
    assertThat(all.containsAll(used)).isTrue();
    assertThat(used).hasSizeGreaterThan(4_900);
  }

  @Test
  void everyPageHasEnoughKeysAfterItsStart() throws IOException {
    Set<ByteString> all = fill(20_000);
    for (int i = 0; i < 200; i++) {
      RangeRequest page = RangeRequest.parseFrom(keys.page(true, 7, 20_000));
      assertThat(page.getLimit()).isEqualTo(500);
      assertThat(page.getRevision()).isEqualTo(7);
      String from = page.getKey().toStringUtf8();
      assertThat(all.stream().filter(key -> key.toStringUtf8().compareTo(from) >= 0).count())
          .isGreaterThan(501);
    }
  }
}
