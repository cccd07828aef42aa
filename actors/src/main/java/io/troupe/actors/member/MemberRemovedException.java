package io.troupe.actors.member;

/** This member was removed from the cluster for good. The process shall end, orderly (M6). */
public final class MemberRemovedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  MemberRemovedException() {
    super("this member was removed from the cluster");
  }
}
