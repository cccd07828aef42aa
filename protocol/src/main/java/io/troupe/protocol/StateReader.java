package io.troupe.protocol;

import io.troupe.auth.AuthState;
import io.troupe.model.AlarmMember;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import io.troupe.model.Result;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Reads of this member's applied state, on the caller's thread, beside the writer and never waiting
 * for it. Thread-safe. Methods that read keys throw {@link RefusedException} for a compacted or
 * future revision.
 */
public interface StateReader {
  /** Current revision. */
  long revision();

  /** Compacted revision, -1 when nothing was compacted (R1). */
  long compactedRevision();

  /**
   * Section 2.3.
   *
   * @param share counts the answer; whoever uses that gives it back
   * @throws RefusedException also when there is no memory for it
   */
  RangeResult range(RangeQuery query, MemoryBudget.Share share);

  /**
   * One chunk of a RangeStream: in key order, or sorted by another target on its own (GS7).
   *
   * @param range the rest of the range
   * @param revision above 0
   * @param limit most keys, 1 or more
   * @param maxBytes stop after the key with which this much is reached; at least one key is given
   */
  Chunk chunk(
      KeyRange range,
      long revision,
      int limit,
      long maxBytes,
      boolean keysOnly,
      RangeQuery.SortTarget target);

  /** Keys of {@code range} at {@code revision}. */
  long count(KeyRange range, long revision);

  /** Number of live keys; empty until {@link #countKeys} has run on this state. */
  OptionalLong keys();

  /** Walks all keys once, so that {@link #keys} knows their number from then on; slow. */
  void countKeys();

  /**
   * Walks over what the compares of a transaction that writes will walk over where it is applied.
   *
   * @param share of the call: the walk ends when it is closed
   * @throws RefusedException if that is too much
   */
  void tryCompares(Operation.Txn txn, MemoryBudget.Share share);

  /**
   * A transaction that only reads (X11).
   *
   * @param share counts the answers; whoever uses them gives it back
   * @throws RefusedException also when there is no memory for them
   */
  Result txn(Operation.Txn txn, MemoryBudget.Share share);

  /** Hash of the whole current content (MT6), always made now. */
  KvHash hash();

  /**
   * Hash of the content up to a revision (MT6); 0 for the current one. Of a compaction that is
   * remembered it is the hash of the content before it.
   */
  KvHash hashKv(long revision);

  /** {@link #hashKv}, always made now, whatever is remembered of compactions. */
  KvHash computeHashKv(long revision);

  /**
   * Hashes of the last compactions that are remembered (MT6), newest first, at most ten; of the
   * content before each.
   */
  List<KvHash> compactionHashes();

  /**
   * Keys attached to a lease, in any order; empty when there is no such lease.
   *
   * @param share counts them
   * @throws RefusedException if they do not fit
   */
  List<Bytes> leaseKeys(long lease, MemoryBudget.Share share);

  /** True when {@code test} holds for every key attached to a lease, also when there is none. */
  boolean allLeaseKeys(long lease, Predicate<Bytes> test);

  /** Active alarms. */
  List<AlarmMember> alarms();

  /** Users, roles, and whether authentication is on. */
  AuthState auth();

  /** The members. */
  ClusterView cluster();

  /** Bytes on disk, at least {@link #sizeInUse()}. */
  long sizeOnDisk();

  /** Bytes that live data needs, an estimate. */
  long sizeInUse();

  /** Completes when everything below the compacted {@code revision} is removed (C3). */
  CompletionStage<Void> compactionDone(long revision);

  /**
   * Part of a range.
   *
   * @param next where the following chunk begins, behind the start of this one; null when the range
   *     is done
   */
  record Chunk(List<KeyValue> kvs, @Nullable Bytes next) {}

  /**
   * Answer of {@link #hashKv}.
   *
   * @param hash unsigned
   */
  record KvHash(int hash, long compactRevision, long hashRevision, long currentRevision) {}
}
