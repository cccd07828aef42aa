package io.troupe.machine;

import static io.troupe.mvcc.Fixture.put;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.auth.AuthState;
import io.troupe.model.AuthRole;
import io.troupe.model.AuthUser;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.Operation;
import io.troupe.model.Permission;
import io.troupe.model.Refusal;
import io.troupe.model.Requester;
import io.troupe.model.Result;
import io.troupe.mvcc.AuthRows;
import io.troupe.mvcc.InMemoryOrderedStore;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreBatch;
import io.troupe.mvcc.StoreException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Users and roles in the state: stored, restored, part of the digest. */
class AuthStateTest {
  private static final Permission READ_A =
      new Permission(Permission.Type.READ, KeyRange.single(Bytes.utf8("a")));
  private static final Permission REST =
      new Permission(Permission.Type.READWRITE, new KeyRange(Bytes.utf8("b"), Bytes.of(0)));

  private final InMemoryOrderedStore store = new InMemoryOrderedStore();
  private StateMachine machine = new StateMachine(store, 0);

  private Result apply(Requester who, Operation operation) {
    Applied applied = machine.apply(machine.appliedIndex() + 1, 1, who, operation);
    machine.commit();
    assertThat(applied.events().isEmpty()).isEqualTo(!(applied.result() instanceof Result.Put));
    return applied.result();
  }

  private void setUp() {
    for (Operation operation :
        List.of(
            new Operation.UserAdd("root", "hash", false),
            new Operation.UserGrantRole("root", "root"),
            new Operation.UserAdd("gone", "hash", false),
            new Operation.UserAdd("u\u00e4", "", true),
            new Operation.RoleAdd("r"),
            new Operation.RoleAdd("gone"),
            new Operation.RoleGrantPermission("r", REST),
            new Operation.RoleGrantPermission("r", READ_A),
            new Operation.UserGrantRole("u\u00e4", "r"),
            new Operation.UserDelete("gone"),
            new Operation.RoleDelete("gone"),
            new Operation.AuthEnable())) {
      assertThat(apply(Requester.ANONYMOUS, operation)).isEqualTo(new Result.Done(1));
    }
  }

  @Test
  void usersAndRolesSurviveReopen_A18() {
    setUp();
    machine = new StateMachine(store, 0);
    AuthState kept = machine.view().auth();
    assertThat(kept.isEnabled()).isTrue();
    assertThat(kept.revision()).isEqualTo(12);
    assertThat(kept.users().values())
        .containsExactly(
            new AuthUser("root", "hash", false, List.of("root")),
            new AuthUser("u\u00e4", "", true, List.of("r")));
    assertThat(kept.roles().values()).containsExactly(new AuthRole("r", List.of(READ_A, REST)));
    assertThat(machine.currentRevision()).isEqualTo(1);
  }

  @Test
  void rightsAreCheckedAtApply_A7() {
    setUp();
    Requester.User user = new Requester.User("u\u00e4", 12);
    assertThat(apply(user, put("b", "1"))).isInstanceOf(Result.Put.class);
    assertThat(apply(user, put("a", "1"))).isEqualTo(new Result.Refused(Refusal.PERMISSION_DENIED));
    assertThat(apply(Requester.ANONYMOUS, put("b", "1")))
        .isEqualTo(new Result.Refused(Refusal.USER_EMPTY));
    // Checked before the change, applied after it.
    apply(new Requester.User("root", 12), new Operation.RoleAdd("other"));
    assertThat(apply(user, put("b", "1"))).isEqualTo(new Result.Refused(Refusal.AUTH_OLD_REVISION));
    assertThat(machine.currentRevision()).isEqualTo(2);
  }

  @Test
  void tokenContainsIndexOfItsEntry_A5() {
    setUp();
    assertThat(apply(Requester.ANONYMOUS, new Operation.Authenticate("root", "abc", 12)))
        .isEqualTo(new Result.Authenticated(1, "abc.13"));
  }

  @Test
  void digestDiffersForDifferentUsers() {
    setUp();
    long one = machine.digest();
    InMemoryOrderedStore second = new InMemoryOrderedStore();
    machine = new StateMachine(second, 0);
    setUp();
    assertThat(machine.digest()).isEqualTo(one);
    machine = new StateMachine(new InMemoryOrderedStore(), 0);
    apply(Requester.ANONYMOUS, new Operation.UserAdd("x", "h1", false));
    long x = machine.digest();
    machine = new StateMachine(new InMemoryOrderedStore(), 0);
    apply(Requester.ANONYMOUS, new Operation.UserAdd("x", "h2", false));
    assertThat(machine.digest()).isNotEqualTo(x);
  }

  @Test
  void stateWithUsersHasItsOwnSchema() {
    apply(Requester.ANONYMOUS, put("a", "1"));
    assertThat(store.get(Space.META, AuthRows.SCHEMA)).isEqualTo(Bytes.of(0, 0, 0, 0, 0, 0, 0, 11));
    apply(Requester.ANONYMOUS, new Operation.RoleAdd("r"));
    assertThat(store.get(Space.META, AuthRows.SCHEMA)).isEqualTo(Bytes.of(0, 0, 0, 0, 0, 0, 0, 12));
    StoreBatch batch = new StoreBatch();
    batch.put(Space.META, AuthRows.SCHEMA, Bytes.of(0, 0, 0, 0, 0, 0, 0, 13));
    store.write(batch);
    assertThatThrownBy(() -> new StateMachine(store, 0))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("schema 13");
  }

  @Test
  void goldenRows() {
    setUp();
    assertThat(store.get(Space.META, AuthRows.AUTH))
        .isEqualTo(Bytes.of(1, 0, 0, 0, 0, 0, 0, 0, 12));
    assertThat(store.get(Space.META, Bytes.utf8("auth-user/root")))
        .isEqualTo(Bytes.of(0, 0, 0, 0, 4, 'h', 'a', 's', 'h', 0, 0, 0, 4, 'r', 'o', 'o', 't'));
    assertThat(store.get(Space.META, Bytes.utf8("auth-user/u\u00e4")))
        .isEqualTo(Bytes.of(1, 0, 0, 0, 0, 0, 0, 0, 1, 'r'));
    assertThat(store.get(Space.META, Bytes.utf8("auth-role/r")))
        .isEqualTo(Bytes.of(0, 0, 0, 0, 1, 'a', 0, 0, 0, 0, 2, 0, 0, 0, 1, 'b', 0, 0, 0, 1, 0));
  }
}
