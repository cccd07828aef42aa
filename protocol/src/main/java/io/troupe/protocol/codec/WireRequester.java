package io.troupe.protocol.codec;

import io.troupe.model.Requester;
import io.troupe.protocol.wire.WireOperation;

/** On whose behalf a log record is; the fields of a WireOperation that say so. */
final class WireRequester {
  private static final byte[] NOTHING = {};

  private WireRequester() {}

  /** The fields alone, to stand behind others of the message; empty for who named nobody. */
  static byte[] fields(Requester requester) {
    WireOperation.Builder out = WireOperation.newBuilder();
    return set(requester, out) ? out.build().toByteArray() : NOTHING;
  }

  /** Sets them; false if there is nothing to say. */
  static boolean set(Requester requester, WireOperation.Builder out) {
    if (requester == Requester.MEMBER) {
      out.setByMember(true);
      return true;
    }
    if (requester instanceof Requester.User user) {
      out.setUser(user.name()).setAuthRevision(user.authRevision());
      return true;
    }
    return false;
  }

  static Requester of(WireOperation wire) {
    if (wire.getByMember()) {
      return Requester.MEMBER;
    }
    return wire.getUser().isEmpty() && wire.getAuthRevision() == 0
        ? Requester.ANONYMOUS
        : new Requester.User(wire.getUser(), wire.getAuthRevision());
  }
}
