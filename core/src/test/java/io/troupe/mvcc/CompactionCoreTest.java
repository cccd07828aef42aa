package io.troupe.mvcc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CompactionCoreTest {
  private final List<String> effects = new ArrayList<>();
  private final CompactionCore<String> core =
      new CompactionCore<>(
          new CompactionCore.Effects<>() {
            @Override
            public void startPass(boolean first) {
              effects.add(first ? "first pass" : "pass");
            }

            @Override
            public void startHash() {
              effects.add("hash");
            }

            @Override
            public void removed(String caller) {
              effects.add("removed for " + caller);
            }

            @Override
            public void finished(long revision) {
              effects.add("finished " + revision);
            }

            @Override
            public void report(long revision, long removed) {
              effects.add("report " + revision + " removed " + removed);
            }
          });

  private void passed(boolean done, long finishedRevision, long removed) {
    core.passed(new Compactor.Progress(done, finishedRevision, removed));
  }

  private void started() {
    core.start();
    passed(true, -1, 0);
    effects.clear();
  }

  @Test
  void startRemovesWhatAnEarlierRunLeft_C4() {
    core.start();
    passed(false, 3, 10);
    passed(true, 7, 5);
    assertThat(effects).containsExactly("first pass", "pass", "finished 7", "report 7 removed 15");
  }

  @Test
  void onePassAtOnceAndOneMoreForCompactionThatMayHaveComeTooLate() {
    started();
    core.moved();
    core.moved();
    passed(true, 5, 1);
    assertThat(effects).containsExactly("hash", "first pass", "pass");
    passed(true, 9, 2);
    assertThat(effects.subList(3, effects.size()))
        .containsExactly("finished 9", "report 9 removed 3");
  }

  /** The pass has ended before the compaction was applied, and its end is handled afterwards. */
  @Test
  void callerThatComesDuringTheLastPassIsNotForgotten() {
    started();
    core.moved();
    core.await(9, "caller");
    passed(true, 5, 1);
    assertThat(effects).doesNotContain("removed for caller");
    passed(true, 9, 0);
    assertThat(effects).contains("removed for caller");
  }

  @Test
  void callerWaitsForItsRevision() {
    started();
    core.await(5, "five");
    passed(false, 4, 1);
    assertThat(effects).containsExactly("first pass", "pass");
    passed(true, 5, 1);
    assertThat(effects.subList(2, effects.size()))
        .containsExactly("removed for five", "finished 5", "report 5 removed 2");
  }

  @Test
  void awaitedCompactionIsReportedOnce() {
    started();
    core.await(5, "five");
    passed(true, 5, 3);
    effects.clear();
    core.moved();
    passed(true, 5, 0);
    assertThat(effects).containsExactly("hash", "first pass");
  }

  @Test
  void compactionThatRemovesNothingIsReported() {
    started();
    core.moved();
    passed(true, 5, 0);
    assertThat(effects).containsExactly("hash", "first pass", "report 5 removed 0");
  }

  @Test
  void newestCompactionIsHashedAfterTheHashInProgress_MT6() {
    started();
    core.moved();
    core.moved();
    core.moved();
    core.hashed();
    core.hashed();
    assertThat(effects.stream().filter("hash"::equals)).hasSize(2);
    core.moved();
    assertThat(effects.stream().filter("hash"::equals)).hasSize(3);
  }
}
