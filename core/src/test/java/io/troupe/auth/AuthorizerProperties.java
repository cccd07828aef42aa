package io.troupe.auth;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.AuthRole;
import io.troupe.model.AuthUser;
import io.troupe.model.Bytes;
import io.troupe.model.Compare;
import io.troupe.model.KeyRange;
import io.troupe.model.Operation;
import io.troupe.model.Permission;
import io.troupe.model.RangeQuery;
import io.troupe.model.Refusal;
import io.troupe.model.Requester;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.Nullable;

/**
 * Compares the permission checks with a reference that checks one key after the other. Bounds of
 * ranges have at most two letters, so every interval between bounds and their successors contains
 * one of the keys of up to three letters: checking those alone is exact.
 */
class AuthorizerProperties {
  private static final byte[] LETTERS = {0, 'a', 'b'};
  private static final List<Bytes> KEYS = keys(3);
  private static final List<Bytes> BOUNDS = keys(2);
  private static final long LEASES = 3;

  private static List<Bytes> keys(int longest) {
    List<Bytes> all = new ArrayList<>();
    List<Bytes> last = List.of(Bytes.EMPTY);
    for (int length = 1; length <= longest; length++) {
      List<Bytes> next = new ArrayList<>();
      for (Bytes prefix : last) {
        for (byte letter : LETTERS) {
          next.add(prefix.concat(Bytes.wrap(new byte[] {letter})));
        }
      }
      all.addAll(next);
      last = next;
    }
    return all;
  }

  /** One random world: rights of one user, keys on leases, requests. */
  private static final class World {
    private final SplittableRandom random;
    final List<Permission> permissions = new ArrayList<>();
    final Map<Long, List<Bytes>> leases = new HashMap<>();
    final Authorizer authorizer;

    World(long seed) {
      random = new SplittableRandom(seed);
      List<AuthRole> roles = new ArrayList<>();
      List<String> names = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        List<Permission> ofRole = new ArrayList<>();
        for (int j = random.nextInt(4); j > 0; j--) {
          ofRole.add(new Permission(pick(List.of(Permission.Type.values())), granted()));
        }
        roles.add(new AuthRole("r" + i, ofRole));
        names.add("r" + i);
        permissions.addAll(ofRole);
      }
      roles.add(new AuthRole("other", List.of(all(Permission.Type.READWRITE))));
      for (long lease = 1; lease < LEASES; lease++) {
        List<Bytes> attached = new ArrayList<>();
        for (int j = random.nextInt(3); j > 0; j--) {
          attached.add(pick(BOUNDS));
        }
        leases.put(lease, attached);
      }
      AuthState state =
          new AuthState(
              true,
              5,
              List.of(
                  new AuthUser("u", "", false, names),
                  new AuthUser("root", "", false, List.of("root"))),
              roles);
      authorizer =
          new Authorizer(
              state,
              (lease, test) -> leases.getOrDefault(lease, List.of()).stream().allMatch(test));
    }

    private static Permission all(Permission.Type type) {
      return new Permission(type, KeyRange.all());
    }

    private <T> T pick(List<T> of) {
      return of.get(random.nextInt(of.size()));
    }

    private KeyRange granted() {
      KeyRange range = range();
      return range.isEmpty() ? KeyRange.single(range.key()) : range;
    }

    KeyRange range() {
      Bytes key = pick(BOUNDS);
      return switch (random.nextInt(4)) {
        case 0 -> KeyRange.single(key);
        case 1 -> new KeyRange(key, Bytes.of(0));
        default -> new KeyRange(key, pick(BOUNDS));
      };
    }

    Requester anyRequester() {
      return random.nextInt(5) == 0
          ? Requester.ANONYMOUS
          : new Requester.User(
              pick(List.of("u", "u", "root", "gone", "")), pick(List.of(0L, 4L, 5L, 6L)));
    }

    long lease() {
      return random.nextLong(LEASES + 1);
    }

    Operation.TxnOp op(int depth) {
      return switch (random.nextInt(depth > 0 ? 4 : 3)) {
        case 0 -> new Operation.Range(RangeQuery.of(range(), 0));
        case 1 ->
            new Operation.Put(
                pick(BOUNDS), Bytes.EMPTY, lease(), random.nextBoolean(), false, false);
        case 2 -> new Operation.DeleteRange(range(), random.nextBoolean());
        default -> txn(depth - 1);
      };
    }

    Operation.Txn txn(int depth) {
      List<Compare> compares = new ArrayList<>();
      for (int i = random.nextInt(2); i > 0; i--) {
        compares.add(
            new Compare(range(), Compare.Target.VERSION, Compare.Relation.EQUAL, 0, Bytes.EMPTY));
      }
      return new Operation.Txn(compares, ops(depth), ops(depth));
    }

    private List<Operation.TxnOp> ops(int depth) {
      List<Operation.TxnOp> ops = new ArrayList<>();
      for (int i = random.nextInt(3); i > 0; i--) {
        ops.add(op(depth));
      }
      return ops;
    }

    // ---- the reference ----

    private boolean may(Bytes key, boolean write) {
      for (Permission permission : permissions) {
        boolean fits = write ? permission.type().writes() : permission.type().reads();
        if (fits && permission.range().contains(key)) {
          return true;
        }
      }
      return false;
    }

    boolean may(KeyRange range, boolean write) {
      if (range.isEmpty()) {
        return may(range.key(), write);
      }
      for (Bytes key : KEYS) {
        if (range.contains(key) && !may(key, write)) {
          return false;
        }
      }
      return true;
    }

    boolean mayAttached(long lease, boolean write) {
      return leases.getOrDefault(lease, List.of()).stream().allMatch(key -> may(key, write));
    }

    boolean may(Operation.TxnOp op) {
      if (op instanceof Operation.Range range) {
        return may(range.query().range(), false);
      }
      if (op instanceof Operation.Put put) {
        return may(put.key(), true)
            && (!put.prevKv() || may(put.key(), false))
            && mayAttached(put.lease(), true);
      }
      if (op instanceof Operation.DeleteRange delete) {
        return may(delete.range(), true) && (!delete.prevKv() || may(delete.range(), false));
      }
      Operation.Txn txn = (Operation.Txn) op;
      return txn.compares().stream().allMatch(compare -> may(compare.range(), false))
          && txn.success().stream().allMatch(this::may)
          && txn.failure().stream().allMatch(this::may);
    }
  }

  /** etcd's order, lease by lease: root, then key by key, of which each checks the revision. */
  private static @Nullable Refusal expected(World world, Requester who, long lease, boolean write) {
    if (!(who instanceof Requester.User user)) {
      return Refusal.USER_EMPTY;
    }
    if (user.name().equals("root")) {
      return null;
    }
    for (Bytes key : world.leases.getOrDefault(lease, List.of())) {
      if (user.authRevision() == 0) {
        return Refusal.USER_EMPTY;
      }
      if (user.authRevision() < 5) {
        return Refusal.AUTH_OLD_REVISION;
      }
      if (!user.name().equals("u") || !world.may(key, write)) {
        return Refusal.PERMISSION_DENIED;
      }
    }
    return null;
  }

  @Property(tries = 1000)
  void leaseRightsEqualRightsOnEachKey_A6_L14(@ForAll long seed) {
    World world = new World(seed);
    for (int i = 0; i < 10; i++) {
      Requester who = world.anyRequester();
      long lease = world.lease();
      assertThat(world.authorizer.operation(who, new Operation.LeaseRevoke(lease)))
          .as("%s, %s of %s with %s", who, lease, world.permissions, world.leases)
          .isEqualTo(expected(world, who, lease, true));
      assertThat(world.authorizer.readAttached(who, lease))
          .as("%s, %s of %s with %s", who, lease, world.permissions, world.leases)
          .isEqualTo(expected(world, who, lease, false));
    }
  }

  private static @Nullable Refusal expected(boolean allowed) {
    return allowed ? null : Refusal.PERMISSION_DENIED;
  }

  @Property(tries = 3000)
  void requestRightsEqualRightsOnEachKey_A12(@ForAll long seed) {
    World world = new World(seed);
    Requester user = new Requester.User("u", 5);
    for (int i = 0; i < 10; i++) {
      Operation.TxnOp op = world.op(2);
      boolean allowed = world.may(op);
      if (op instanceof Operation operation) {
        assertThat(world.authorizer.operation(user, operation))
            .as("%s of %s with %s", op, world.permissions, world.leases)
            .isEqualTo(expected(allowed));
      }
      Operation.Txn around = new Operation.Txn(List.of(), List.of(), List.of(op));
      assertThat(world.authorizer.transaction(user, around))
          .as("%s of %s with %s", op, world.permissions, world.leases)
          .isEqualTo(expected(allowed));
      KeyRange range = world.range();
      assertThat(world.authorizer.read(user, range))
          .as("%s of %s", range, world.permissions)
          .isEqualTo(expected(world.may(range, false)));
      long lease = world.lease();
      assertThat(world.authorizer.operation(user, new Operation.LeaseRevoke(lease)))
          .isEqualTo(expected(world.mayAttached(lease, true)));
      assertThat(world.authorizer.readAttached(user, lease))
          .isEqualTo(expected(world.mayAttached(lease, false)));
    }
  }
}
