package io.troupe.model;

/** On whose behalf something is asked of the state. */
public sealed interface Requester {
  /** A member itself: the end of a lease, an alarm of its own (A17). Nothing is forbidden to it. */
  Requester MEMBER = Unnamed.MEMBER;

  /** A client that named nobody. With authentication on it may do next to nothing (A3). */
  Requester ANONYMOUS = Unnamed.ANONYMOUS;

  /** Those without a name. */
  enum Unnamed implements Requester {
    /** See {@link Requester#MEMBER}. */
    MEMBER,
    /** See {@link Requester#ANONYMOUS}. */
    ANONYMOUS
  }

  /**
   * A user whose identity is proven. There need not be one of that name (any more), and the name is
   * empty where the proof names nobody: a certificate without a common name.
   *
   * @param authRevision of the state that proved it; rights are refused when it is older than the
   *     state's (A7)
   */
  record User(String name, long authRevision) implements Requester {}
}
