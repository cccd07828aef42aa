package io.troupe.model;

/**
 * The state that Raft must keep across a restart in addition to the log.
 *
 * @param term current term, 0 before the first election
 * @param vote member that this member voted for in {@code term}, or {@link NodeId#NONE}
 * @param commit highest index known to be committed; may lag behind the actual commit index
 */
public record HardState(long term, NodeId vote, long commit) {
  /** The state of a member that never ran. */
  public static final HardState INITIAL = new HardState(0, NodeId.NONE, 0);
}
