package io.troupe.auth;

import io.troupe.model.KeyRange;
import io.troupe.model.Permission;
import java.util.ArrayList;
import java.util.List;

/** The combined permissions of all roles of a user (A12). Immutable. */
final class AccessRights {
  private final KeyUnion reads;
  private final KeyUnion writes;

  AccessRights(List<Permission> permissions) {
    List<KeyRange> readable = new ArrayList<>();
    List<KeyRange> writable = new ArrayList<>();
    for (Permission permission : permissions) {
      if (permission.type().reads()) {
        readable.add(permission.range());
      }
      if (permission.type().writes()) {
        writable.add(permission.range());
      }
    }
    this.reads = KeyUnion.of(readable);
    this.writes = KeyUnion.of(writable);
  }

  boolean mayRead(KeyRange range) {
    return reads.contains(range);
  }

  boolean mayWrite(KeyRange range) {
    return writes.contains(range);
  }
}
