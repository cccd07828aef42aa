package io.troupe.protocol.codec;

import io.troupe.model.Requester;
import io.troupe.protocol.wire.WireOperation;

/** The requester of a log record; the fields of a WireOperation that contain it. */
final class WireRequester {
  private static final byte[] NOTHING = {};

  private WireRequester() {}

  /**
   * The encoded fields alone, to be appended to other fields of the message; empty for a client
   * without a user name.
   */
  static byte[] fields(Requester requester) {
    WireOperation.Builder out = WireOperation.newBuilder();
    return set(requester, out) ? out.build().toByteArray() : NOTHING;
  }

  /** Sets the fields; false if there is nothing to set. */
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
