package io.troupe.model;

/** Identity on whose behalf a request is made. */
public sealed interface Requester {
  /** A member itself: an expired lease, an alarm of its own (A17). It may do everything. */
  Requester MEMBER = Unnamed.MEMBER;

  /** A client without a user name. If authentication is enabled, it may do almost nothing (A3). */
  Requester ANONYMOUS = Unnamed.ANONYMOUS;

  /** Requesters without a user name. */
  enum Unnamed implements Requester {
    /** See {@link Requester#MEMBER}. */
    MEMBER,
    /** See {@link Requester#ANONYMOUS}. */
    ANONYMOUS
  }

  /**
   * A user whose identity is proven. A user of that name need not exist (any more). The name is
   * empty if the proof contains none, as a certificate without a common name.
   *
   * @param authRevision auth revision of the state that proved the identity; rights are refused if
   *     it is lower than the state's (A7)
   */
  record User(String name, long authRevision) implements Requester {}
}
