package io.troupe.protocol;

import io.troupe.auth.AuthState;
import io.troupe.model.AlarmMember;
import io.troupe.model.Bytes;
import io.troupe.model.ClusterVersions;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import io.troupe.model.Result;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Reads of this member's applied state, on the caller's thread, concurrent with the writer and
 * never waiting for it. Thread-safe. Methods that read keys throw {@link RefusedException} for a
 * compacted or future revision.
 */
public interface StateReader {
  /** Current revision. */
  long revision();

  /** Compacted revision, -1 if nothing was compacted (R1). */
  long compactedRevision();

  /**
   * Executes a Range (section 2.3).
   *
   * @param share counts the result; the caller releases it after use
   * @throws RefusedException also if the result exceeds the memory
   */
  RangeResult range(RangeQuery query, MemoryBudget.Share share);

  /**
   * Executes a Range of one key if that takes no read of a file. Never waits.
   *
   * @return null if only {@link #range} can tell: the newest record of the key is not in memory or
   *     not the one at the revision, or the Range is refused
   */
  @Nullable RangeResult rangeInMemory(RangeQuery query);

  /**
   * One chunk of a RangeStream: in key order, or sorted by another target on its own (GS7).
   *
   * @param range the rest of the range
   * @param revision above 0
   * @param limit maximum number of keys, 1 or more
   * @param maxBytes stop after the key with which this size is reached; at least one key is
   *     returned
   */
  Chunk chunk(
      KeyRange range,
      long revision,
      int limit,
      long maxBytes,
      boolean keysOnly,
      RangeQuery.SortTarget target);

  /** Number of keys of {@code range} at {@code revision}. */
  long count(KeyRange range, long revision);

  /** Number of live keys. */
  long keys();

  /** The blocks in which the live keys are counted. */
  CountedBlocks countedBlocks();

  /**
   * The blocks in which the live keys are counted.
   *
   * @param blocks 1 or more
   * @param bytes memory, with that of earlier counts
   * @param corrections counts that did not match the keys of their block and were replaced, since
   *     the start
   */
  record CountedBlocks(long blocks, long bytes, long corrections) {}

  /**
   * Evaluates the compares of a writing transaction, to check that they stay within the limit
   * before it is proposed.
   *
   * @param share of the call: the walk stops when it is closed
   * @throws RefusedException if they exceed the limit
   */
  void tryCompares(Operation.Txn txn, MemoryBudget.Share share);

  /**
   * Executes a transaction that only reads (X11).
   *
   * @param share counts the results; the caller releases it after use
   * @throws RefusedException also if the results exceed the memory
   */
  Result txn(Operation.Txn txn, MemoryBudget.Share share);

  /** Hash of the whole current content (MT6), always computed now. */
  KvHash hash();

  /**
   * Hash of the content up to a revision (MT6); 0 for the current one. If the hash of a compaction
   * at that revision is known, it is the hash of the content before it.
   */
  KvHash hashKv(long revision);

  /** {@link #hashKv}, always computed now, ignoring the hashes of compactions. */
  KvHash computeHashKv(long revision);

  /**
   * Known hashes of the last compactions (MT6), newest first, at most ten; each covers the content
   * before its compaction.
   */
  List<KvHash> compactionHashes();

  /**
   * Keys attached to a lease, in any order; empty if the lease does not exist.
   *
   * @param share counts them
   * @throws RefusedException if they exceed the memory
   */
  List<Bytes> leaseKeys(long lease, MemoryBudget.Share share);

  /** True if {@code test} holds for every key attached to a lease, also if there is none. */
  boolean allLeaseKeys(long lease, Predicate<Bytes> test);

  /** Active alarms. */
  List<AlarmMember> alarms();

  /** Users, roles, and whether authentication is enabled. */
  AuthState auth();

  /** The members. */
  ClusterView cluster();

  /** Versions of the cluster, of this state, and of a downgrade. */
  ClusterVersions versions();

  /**
   * Freezes the state and opens it as a database file of etcd (MT8).
   *
   * @param windowBytes memory of the records that are looked up at once, 1 MiB or more
   * @return owned by the caller
   */
  DatabaseFile openDatabase(long windowBytes);

  /** Bytes on disk, at least {@link #sizeInUse()}. */
  long sizeOnDisk();

  /** Bytes that live data needs, an estimate. */
  long sizeInUse();

  /** Completes when everything below the compacted {@code revision} is removed (C3). */
  CompletionStage<Void> compactionDone(long revision);

  /**
   * Part of a range.
   *
   * @param next start of the following chunk, above the start of this one; null if the range is
   *     complete
   */
  record Chunk(List<KeyValue> kvs, @Nullable Bytes next) {}

  /**
   * Result of {@link #hashKv}.
   *
   * @param hash unsigned
   */
  record KvHash(int hash, long compactRevision, long hashRevision, long currentRevision) {}
}
