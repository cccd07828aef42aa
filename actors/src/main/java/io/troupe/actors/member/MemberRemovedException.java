package io.troupe.actors.member;

/**
 * This member was permanently removed from the cluster. The process must shut down in an orderly
 * way (M6).
 */
public final class MemberRemovedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  MemberRemovedException() {
    super(
        "this member was removed from the cluster; to use it again, add it with \"member add\" and"
            + " start it with an empty data directory and initial-cluster-state \"existing\"");
  }
}
