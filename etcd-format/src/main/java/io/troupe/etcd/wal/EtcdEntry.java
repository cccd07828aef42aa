package io.troupe.etcd.wal;

import io.troupe.model.Bytes;

/**
 * One entry of etcd's Raft log.
 *
 * @param term 1 or more
 * @param index 1 or more
 * @param data the request or the change; empty for the first entry of a leader
 */
public record EtcdEntry(long term, long index, Kind kind, Bytes data) {
  /** Meaning of the data. */
  public enum Kind {
    /** A request: {@code io.troupe.etcd.RaftRequest}. */
    REQUEST,
    /** A change of one member: {@code io.troupe.etcd.MemberChange}. */
    MEMBER_CHANGE,
    /** A joint change, which etcd never proposes. */
    JOINT_CHANGE
  }
}
