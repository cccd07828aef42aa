package io.troupe.machine;

import static io.troupe.mvcc.Fixture.put;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Requester;
import io.troupe.model.Result;
import io.troupe.mvcc.AuthRows;
import io.troupe.mvcc.InMemoryOrderedStore;
import io.troupe.mvcc.MetaRows;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreBatch;
import io.troupe.mvcc.StoreException;
import org.junit.jupiter.api.Test;

/** Versions of the cluster in the state: stored, restored, part of the digest. */
class VersionStateTest {
  private static final EtcdVersion V36 = new EtcdVersion(3, 6, 0);
  private static final EtcdVersion V37 = new EtcdVersion(3, 7, 0);

  private final InMemoryOrderedStore store = new InMemoryOrderedStore();
  private StateMachine machine = new StateMachine(store, 0);

  private Result apply(Operation operation) {
    return apply(Requester.MEMBER, operation);
  }

  private Result apply(Requester who, Operation operation) {
    Applied applied = machine.apply(machine.appliedIndex() + 1, 1, who, operation);
    machine.commit();
    return applied.result();
  }

  private long schema() {
    Bytes row = store.get(Space.META, AuthRows.SCHEMA);
    return row == null ? -1 : row.at(7);
  }

  @Test
  void versionsSurviveReopen_V1() {
    assertThat(machine.view().versions()).isEqualTo(ClusterVersions.UNDECIDED);
    assertThat(apply(new Operation.SetClusterVersion(null, V37))).isEqualTo(new Result.Done(1));
    assertThat(apply(new Operation.EnableDowngrade(V36))).isEqualTo(new Result.Done(1));
    ClusterVersions enabled = new ClusterVersions(V37, V37, V36);
    assertThat(machine.view().versions()).isEqualTo(enabled);
    machine = new StateMachine(store, 0);
    assertThat(machine.view().versions()).isEqualTo(enabled);
    apply(new Operation.SetClusterVersion(V37, V36));
    apply(new Operation.CancelDowngrade(V36));
    machine = new StateMachine(store, 0);
    assertThat(machine.view().versions()).isEqualTo(new ClusterVersions(V36, V36, null));
    assertThat(machine.currentRevision()).isEqualTo(1);
  }

  @Test
  void goldenRows() {
    apply(new Operation.SetClusterVersion(null, V37));
    apply(new Operation.EnableDowngrade(V36));
    assertThat(store.get(Space.META, Bytes.utf8("cluster-version"))).isEqualTo(Bytes.utf8("3.7.0"));
    assertThat(store.get(Space.META, Bytes.utf8("storage-version"))).isEqualTo(Bytes.utf8("3.7.0"));
    assertThat(store.get(Space.META, Bytes.utf8("downgrade-target")))
        .isEqualTo(Bytes.utf8("3.6.0"));
    apply(new Operation.CancelDowngrade(null));
    assertThat(store.get(Space.META, Bytes.utf8("downgrade-target"))).isNull();
  }

  @Test
  void stateWithVersionsHasItsOwnSchema() {
    apply(put("a", "1"));
    assertThat(schema()).isEqualTo(11);
    apply(new Operation.SetClusterVersion(null, V37));
    assertThat(schema()).isEqualTo(14);
    // Users do not lower it, also after a restart.
    machine = new StateMachine(store, 0);
    apply(new Operation.RoleAdd("r"));
    assertThat(schema()).isEqualTo(14);
  }

  @Test
  void versionsRaiseSchemaOfStateWithUsers() {
    apply(new Operation.RoleAdd("r"));
    assertThat(schema()).isEqualTo(12);
    apply(new Operation.SetClusterVersion(null, V37));
    assertThat(schema()).isEqualTo(14);
  }

  @Test
  void newerSchemaIsRefused() {
    StoreBatch batch = new StoreBatch();
    batch.put(Space.META, AuthRows.SCHEMA, Bytes.of(0, 0, 0, 0, 0, 0, 0, 15));
    store.write(batch);
    assertThatThrownBy(() -> new StateMachine(store, 0))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("schema 15");
  }

  @Test
  void damagedVersionIsRefused() {
    StoreBatch batch = new StoreBatch();
    batch.put(Space.META, MetaRows.CLUSTER_VERSION, Bytes.utf8("3.x"));
    store.write(batch);
    assertThatThrownBy(() -> new StateMachine(store, 0))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("cluster-version");
  }

  @Test
  void refusalsChangeNothing_MT11() {
    assertThat(apply(new Operation.EnableDowngrade(V36)))
        .isEqualTo(new Result.Refused(Refusal.CLUSTER_VERSION_UNKNOWN));
    assertThat(apply(new Operation.CancelDowngrade(null)))
        .isEqualTo(new Result.Refused(Refusal.NO_DOWNGRADE));
    assertThat(schema()).isEqualTo(11);
  }

  @Test
  void onlyRootChangesVersions_MT11() {
    apply(new Operation.UserAdd("root", "hash", false));
    apply(new Operation.UserGrantRole("root", "root"));
    apply(new Operation.UserAdd("u", "hash", false));
    apply(new Operation.AuthEnable());
    apply(new Operation.SetClusterVersion(null, V37));
    Operation enable = new Operation.EnableDowngrade(V36);
    assertThat(apply(Requester.ANONYMOUS, enable))
        .isEqualTo(new Result.Refused(Refusal.USER_EMPTY));
    assertThat(apply(new Requester.User("u", 5), enable))
        .isEqualTo(new Result.Refused(Refusal.PERMISSION_DENIED));
    assertThat(apply(new Requester.User("root", 5), enable)).isEqualTo(new Result.Done(1));
  }

  @Test
  void digestDiffersForDifferentVersions() {
    apply(new Operation.SetClusterVersion(null, V37));
    long one = machine.digest();
    machine = new StateMachine(new InMemoryOrderedStore(), 0);
    apply(new Operation.SetClusterVersion(null, V36));
    assertThat(machine.digest()).isNotEqualTo(one);
  }
}
