package io.troupe.actors.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.metrics.MemberMetrics;
import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.DataDirException;
import io.troupe.persistence.datadir.MemberIdentity;
import io.troupe.persistence.wal.Wal;
import io.troupe.raft.RaftState;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A member continues alone with the data on its disk (SN4), also after a crash. */
class ForcedStartTest {
  private static final NodeId ONE = new NodeId(1);
  private static final NodeId TWO = new NodeId(2);
  private static final NodeId THREE = new NodeId(3);
  private static final SortedMap<NodeId, List<String>> ALL =
      new TreeMap<>(
          Map.of(
              ONE,
              List.of("http://a:1"),
              TWO,
              List.of("http://b:1"),
              THREE,
              List.of("http://c:1")));
  private static final HardState FOLLOWER = new HardState(4, TWO, 2);

  /** Simulates the end of the process for the files. */
  private static final class Crash extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private final Path root;
  private final List<Map<NodeId, List<String>>> asked = new ArrayList<>();

  ForcedStartTest(@TempDir Path temp) {
    this.root = temp.resolve("data");
  }

  /** Opens and closes the files; returns the state that the member would start with. */
  private RaftState start(
      UnaryOperator<Wal> log, @Nullable Consumer<Map<NodeId, List<String>>> others) {
    DataDir dataDir = DataDir.open(root);
    MemberFiles files;
    try {
      files = MemberFiles.open(dataDir, SmallSettings.SMALL, new MemberMetrics(), log, others);
    } catch (RuntimeException failure) {
      dataDir.close();
      throw failure;
    }
    RaftState state = files.recovered();
    files.wal().close();
    files.close();
    return state;
  }

  private RaftState forced() {
    return start(UnaryOperator.identity(), asked::add);
  }

  private RaftState usual() {
    return start(UnaryOperator.identity(), null);
  }

  private void identify(NodeId self, boolean joins) {
    try (DataDir dir = DataDir.open(root)) {
      dir.bootstrap(new MemberIdentity(9, self, "n", List.of("http://a:1"), joins, ALL, "test"));
    }
  }

  private static Entry entry(long index) {
    // Without content, because committed entries are applied at the next start.
    return new Entry(3, index, Entry.Kind.NOOP, Bytes.EMPTY);
  }

  /** A follower of three with entries 2 to 5, of which it knows that the first is committed. */
  private void follower() {
    identify(ONE, false);
    usual();
    start(
        log -> {
          log.append(FOLLOWER, List.of(entry(2), entry(3), entry(4), entry(5)));
          log.sync();
          return log;
        },
        null);
  }

  private static void isAlone(RaftState state) {
    assertThat(state.hardState()).isEqualTo(new HardState(5, ONE, 6));
    // The log is complete: a member that joins later also gets its first entry.
    assertThat(state.entries())
        .hasSize(6)
        .containsSubsequence(entry(2), entry(3), entry(4), entry(5));
    assertThat(MembershipCodec.decodeEntry(state.entries().get(5).data()).after())
        .isEqualTo(
            new Membership(6, Set.of(ONE), Set.of(), Set.of(), Set.of(), Set.of(TWO, THREE)));
  }

  @Test
  void wholeLogIsKeptAndForcedStartIsPermanent() {
    follower();
    isAlone(forced());
    assertThat(asked)
        .containsExactly(Map.of(TWO, List.of("http://b:1"), THREE, List.of("http://c:1")));
    isAlone(usual());
    isAlone(forced());
    assertThat(asked).as("no member is left to ask").hasSize(1);
  }

  @Test
  void objectionLeavesFilesUnchanged() {
    follower();
    RaftState before = usual();
    assertThatThrownBy(
            () ->
                start(
                    UnaryOperator.identity(),
                    others -> {
                      throw new IllegalStateException("one is there");
                    }))
        .hasMessage("one is there");
    assertThat(usual()).isEqualTo(before);
  }

  /** A crash leaves the former cluster or the new one, and the next try works. */
  @ParameterizedTest
  @ValueSource(strings = {"before append", "before sync", "after sync"})
  void crashLeavesFormerOrNewCluster(String when) {
    follower();
    RaftState before = usual();
    assertThatThrownBy(() -> start(log -> crashing(log, when), asked::add))
        .isInstanceOf(Crash.class);
    RaftState after = usual();
    if (when.equals("before append")) {
      assertThat(after).isEqualTo(before);
    } else if (when.equals("after sync") || !after.equals(before)) {
      isAlone(after);
    }
    isAlone(forced());
  }

  private static Wal crashing(Wal log, String when) {
    return (Wal)
        Proxy.newProxyInstance(
            Wal.class.getClassLoader(),
            new Class<?>[] {Wal.class},
            (proxy, method, args) -> {
              if (when.equals("before " + method.getName())) {
                log.close();
                throw new Crash();
              }
              Object result;
              try {
                result = method.invoke(log, args);
              } catch (InvocationTargetException failure) {
                throw Objects.requireNonNull(failure.getCause());
              }
              if (when.equals("after " + method.getName())) {
                log.close();
                throw new Crash();
              }
              return result;
            });
  }

  @Test
  void forcedStartWithoutDataIsNormalStart() {
    identify(ONE, false);
    RaftState fresh = forced();
    assertThat(fresh.hardState()).isEqualTo(new HardState(1, NodeId.NONE, 1));
    assertThat(fresh.entries()).hasSize(1);
    assertThat(asked).isEmpty();
  }

  @Test
  void joinedMemberWithoutDataCannotForceNewCluster() {
    identify(ONE, true);
    assertThatThrownBy(this::forced)
        .isInstanceOfSatisfying(
            DataDirException.class,
            e -> assertThat(e.reason()).isEqualTo(DataDirException.Reason.FOREIGN))
        .hasMessageContaining("never received any data");
  }
}
