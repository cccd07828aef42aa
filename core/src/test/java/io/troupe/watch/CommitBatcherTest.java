package io.troupe.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.SharedEvent;
import io.troupe.model.SharedEvents;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class CommitBatcherTest {
  private static final long LIMIT = 1000;

  private final List<String> effects = new ArrayList<>();
  private final List<EventBacklog.Lot> lots = new ArrayList<>();
  private final List<MissedRevisions> reports = new ArrayList<>();
  private final EventBacklog backlog = new EventBacklog(LIMIT);
  private final CommitBatcher batcher =
      new CommitBatcher(
          backlog,
          new CommitBatcher.Effects() {
            @Override
            public void publish(List<Commit> commits, EventBacklog.Lot memory) {
              effects.add("publish " + commits.stream().map(Commit::revision).toList());
              lots.add(memory);
            }

            @Override
            public void publishMissed(MissedRevisions revisions) {
              effects.add("report");
              reports.add(revisions);
            }

            @Override
            public void publishRightsChanged() {
              effects.add("rights changed");
            }

            @Override
            public void missed(int revisions) {
              effects.add("missed " + revisions);
            }
          });

  private static Commit commit(long revision, String... keys) {
    return new Commit(
        revision,
        Stream.of(keys)
            .map(key -> new KeyValue(Bytes.utf8(key), revision, revision, 1, Bytes.EMPTY, 0))
            .map(kv -> new Event(Event.Type.PUT, kv, null))
            .toList());
  }

  private static KeyRange range(String first, String last) {
    return new KeyRange(Bytes.utf8(first), Bytes.utf8(last).successor());
  }

  private void publish(Commit... commits) {
    for (Commit commit : commits) {
      batcher.add(commit, 400);
    }
    batcher.publish();
  }

  @Test
  void commitsOfOneBatchArePublishedTogether() {
    batcher.add(commit(2, "a"), 100);
    batcher.add(new Commit(2, List.of()), 0);
    batcher.add(commit(3, "b"), 100);
    assertThat(batcher.pendingBytes()).isEqualTo(456);
    batcher.publish();
    batcher.publish();
    assertThat(effects).containsExactly("publish [2, 3]");
    assertThat(backlog.bytes()).isEqualTo(456);
    assertThat(batcher.pendingBytes()).isZero();
  }

  @Test
  void eventsThatAreNotListedTakeNoMemory() {
    batcher.add(new Commit(2, List.of(), range("a", "z")), 5_000_000);
    assertThat(batcher.pendingBytes()).isEqualTo(128);
  }

  @Test
  void everyRevisionOfBatchThatDoesNotFitIsMissed() {
    publish(commit(2, "a"));
    publish(commit(3, "m", "c"), commit(4, "b"), commit(5, "x"));
    assertThat(effects).containsExactly("publish [2]", "report", "missed 3");
    assertThat(reports.get(0).take()).isEqualTo(new MissedRevisions.Span(3, 5, range("b", "x")));
    assertThat(batcher.pendingBytes()).isZero();
  }

  @Test
  void batchFitsAgainWhenTheHubHasReleasedTheMemory() {
    publish(commit(2, "a"));
    publish(commit(3, "b"));
    lots.get(0).release();
    publish(commit(4, "c"));
    assertThat(effects).containsExactly("publish [2]", "report", "missed 1", "publish [4]");
  }

  @Test
  void missedRevisionsAreJoinedUntilTheHubTakesThem() {
    publish(commit(2, "a"));
    publish(commit(3, "b"));
    publish(new Commit(4, List.of(), range("f", "g")), commit(5, "c"));
    assertThat(reports).hasSize(1);
    assertThat(reports.get(0).take()).isEqualTo(new MissedRevisions.Span(3, 5, range("b", "g")));
    publish(commit(6, "e"));
    assertThat(reports).hasSize(2);
    assertThat(reports.get(1).take()).isEqualTo(new MissedRevisions.Span(6, 6, range("e", "e")));
  }

  /** Otherwise the hub would process them before an earlier message. */
  @Test
  void publishedCommitsAndRightsEndTheReport() {
    publish(commit(2, "a"));
    publish(commit(3, "b"));
    batcher.rightsChanged();
    publish(commit(4, "c"));
    lots.get(0).release();
    publish(commit(5, "d"));
    publish(commit(6, "e"));
    assertThat(effects)
        .containsExactly(
            "publish [2]",
            "report",
            "missed 1",
            "rights changed",
            "report",
            "missed 1",
            "publish [5]",
            "report",
            "missed 1");
    assertThat(reports.stream().map(MissedRevisions::take).map(MissedRevisions.Span::last))
        .containsExactly(3L, 4L, 6L);
  }

  @Test
  void openRangeStaysOpenWhenJoined() {
    MissedRevisions revisions = new MissedRevisions(2, range("c", "d"));
    assertThat(revisions.add(3, new KeyRange(Bytes.utf8("b"), KeyRange.all().rangeEnd()))).isTrue();
    assertThat(revisions.take().keys())
        .isEqualTo(new KeyRange(Bytes.utf8("b"), KeyRange.all().rangeEnd()));
    assertThat(revisions.add(4, range("a", "a"))).isFalse();
  }

  @Test
  void lotIsReleasedByItsLastHolder() {
    DeliveredLots stream = new DeliveredLots();
    publish(commit(2, "a"));
    long events = backlog.bytes();
    SharedEvent event = new SharedEvent(commit(2, "a").events().get(0));
    stream.add(
        lots.get(0),
        List.of(
            new Delivery(1, SharedEvents.ofOne(List.of(event))),
            new Delivery(2, SharedEvents.ofOne(List.of(event, event)))));
    lots.get(0).release();
    assertThat(backlog.bytes()).isEqualTo(events + 3 * 128 + 3 * 8);
    stream.releaseFirst();
    assertThat(backlog.bytes()).isZero();
  }
}
