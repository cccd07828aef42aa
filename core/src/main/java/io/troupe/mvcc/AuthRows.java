package io.troupe.mvcc;

import io.troupe.model.AuthRole;
import io.troupe.model.AuthUser;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.Permission;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Rows of users and roles, in META (docs/formats/store-keys.md). */
public final class AuthRows {
  /** Key of the row with the authentication switch and the auth revision. */
  public static final Bytes AUTH = Bytes.utf8("auth");

  /** Key of the schema version: a state with rows of this class has a schema of its own. */
  public static final Bytes SCHEMA = StoreKeys.META_SCHEMA;

  private static final Bytes USER = Bytes.utf8("auth-user/");
  private static final Bytes ROLE = Bytes.utf8("auth-role/");
  private static final int NO_PASSWORD = 1;

  private AuthRows() {}

  /** Content of {@link #AUTH}. */
  public record Switch(boolean enabled, long revision) {}

  /** Lowest schema of a state with rows of this class. */
  public static final long SCHEMA_VERSION = StoreKeys.SCHEMA_WITH_AUTH;

  /** Value of {@link #SCHEMA} for this schema. */
  public static Bytes schema() {
    return StoreSchema.row(SCHEMA_VERSION);
  }

  /** Value of {@link #AUTH}. */
  public static Bytes value(Switch auth) {
    byte[] out = new byte[9];
    out[0] = (byte) (auth.enabled() ? 1 : 0);
    StoreKeys.putLong(out, 1, auth.revision());
    return Bytes.wrap(out);
  }

  /** Content of {@link #AUTH}, or null if it was never written. */
  public static @Nullable Switch auth(StoreView store) {
    Bytes value = store.get(Space.META, AUTH);
    return value == null ? null : new Switch(value.at(0) == 1, StoreKeys.getLong(value, 1));
  }

  /** Key of a user. */
  public static Bytes user(String name) {
    return USER.concat(Bytes.utf8(name));
  }

  /** Value of a user. */
  public static Bytes value(AuthUser user) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(user.noPassword() ? NO_PASSWORD : 0);
    MetaRows.text(out, user.passwordHash());
    user.roles().forEach(role -> MetaRows.text(out, role));
    return Bytes.wrap(out.toByteArray());
  }

  /** Passes every user to {@code each}. */
  public static void forEachUser(StoreView store, Consumer<AuthUser> each) {
    try (Cursor rows = MetaRows.prefixed(store, USER)) {
      while (rows.next()) {
        List<String> texts = MetaRows.texts(rows.value().slice(1));
        if (texts.isEmpty()) {
          throw new StoreException("damaged user row");
        }
        each.accept(
            new AuthUser(
                rows.key().slice(USER.length()).utf8(),
                texts.get(0),
                rows.value().at(0) == NO_PASSWORD,
                texts.subList(1, texts.size())));
      }
    }
  }

  /** Key of a role. */
  public static Bytes role(String name) {
    return ROLE.concat(Bytes.utf8(name));
  }

  /** Value of a role. */
  public static Bytes value(AuthRole role) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (Permission permission : role.permissions()) {
      out.write(permission.type().code());
      MetaRows.bytes(out, permission.range().key());
      MetaRows.bytes(out, permission.range().rangeEnd());
    }
    return Bytes.wrap(out.toByteArray());
  }

  /** Passes every role to {@code each}. */
  public static void forEachRole(StoreView store, Consumer<AuthRole> each) {
    try (Cursor rows = MetaRows.prefixed(store, ROLE)) {
      while (rows.next()) {
        each.accept(
            new AuthRole(rows.key().slice(ROLE.length()).utf8(), permissions(rows.value())));
      }
    }
  }

  private static List<Permission> permissions(Bytes value) {
    List<Permission> permissions = new ArrayList<>();
    int at = 0;
    while (at < value.length()) {
      Permission.Type type = Permission.Type.ofCode(value.at(at));
      Bytes key = MetaRows.bytesAt(value, at + 1);
      at += 1 + 4 + key.length();
      Bytes rangeEnd = MetaRows.bytesAt(value, at);
      at += 4 + rangeEnd.length();
      permissions.add(new Permission(type, new KeyRange(key, rangeEnd)));
    }
    return permissions;
  }
}
