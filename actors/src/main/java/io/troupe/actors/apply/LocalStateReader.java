package io.troupe.actors.apply;

import io.troupe.auth.AuthState;
import io.troupe.etcd.DatabaseExport;
import io.troupe.machine.StateMachine;
import io.troupe.machine.StateView;
import io.troupe.metrics.ApplyMetrics;
import io.troupe.metrics.UpkeepMetrics;
import io.troupe.model.AlarmMember;
import io.troupe.model.Bytes;
import io.troupe.model.ClusterVersions;
import io.troupe.model.KeyRange;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.mvcc.HashResult;
import io.troupe.mvcc.MvccReader;
import io.troupe.mvcc.OrderedStore;
import io.troupe.mvcc.Page;
import io.troupe.protocol.ClusterView;
import io.troupe.protocol.DatabaseFile;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.StateReader;
import io.troupe.txn.CompareLimit;
import io.troupe.txn.ReadEvaluator;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** {@link StateReader} over the state machine of this process. */
public final class LocalStateReader implements StateReader {
  /** Approximate memory of a key in a response besides its bytes. */
  private static final int LEASE_KEY_BYTES = 100;

  private final StateMachine machine;
  private final OrderedStore store;
  private final ReadEvaluator transactions;
  private final ApplyMetrics metrics;
  private final UpkeepMetrics upkeep;
  private final BiConsumer<Long, CompletableFuture<Void>> awaitCompaction;

  /**
   * Reads the state of one state machine.
   *
   * @param metrics counts the reads
   * @param upkeep counts the hashes
   * @param awaitCompaction completes the future when all versions below the revision are removed
   */
  public LocalStateReader(
      StateMachine machine,
      OrderedStore store,
      ApplyMetrics metrics,
      UpkeepMetrics upkeep,
      BiConsumer<Long, CompletableFuture<Void>> awaitCompaction) {
    this.machine = machine;
    this.store = store;
    this.metrics = metrics;
    this.upkeep = upkeep;
    this.transactions = new ReadEvaluator(machine.reader());
    this.awaitCompaction = awaitCompaction;
  }

  @Override
  public long revision() {
    return machine.reader().view().revision();
  }

  @Override
  public long compactedRevision() {
    return machine.reader().view().compactedRevision();
  }

  @Override
  public RangeResult range(RangeQuery query, MemoryBudget.Share share) {
    metrics.ranged();
    return ((Result.Range) orThrow(machine.reader().range(query, share))).range();
  }

  @Override
  public @Nullable RangeResult rangeInMemory(RangeQuery query) {
    RangeResult result = machine.reader().rangeInMemory(query);
    if (result != null) {
      metrics.rangedInMemory();
    }
    return result;
  }

  @Override
  public Chunk chunk(
      KeyRange range,
      long revision,
      int limit,
      long maxBytes,
      boolean keysOnly,
      RangeQuery.SortTarget target) {
    Page page = machine.reader().page(range, revision, limit, maxBytes, keysOnly, target);
    if (page instanceof Page.Refused refused) {
      throw new RefusedException(refused.reason());
    }
    Page.Records records = (Page.Records) page;
    return new Chunk(records.kvs(), records.next());
  }

  @Override
  public long count(KeyRange range, long revision) {
    return ((Result.Range) orThrow(machine.reader().count(range, revision))).range().count();
  }

  @Override
  public long keys() {
    return machine.reader().keys();
  }

  @Override
  public CountedBlocks countedBlocks() {
    MvccReader.CountedBlocks counted = machine.reader().countedBlocks();
    return new CountedBlocks(counted.blocks(), counted.bytes(), counted.corrections());
  }

  @Override
  public void tryCompares(Operation.Txn txn, MemoryBudget.Share share) {
    Refusal refusal = transactions.refusal(txn, CompareLimit.DEFAULT, share);
    if (refusal != null) {
      throw new RefusedException(refusal);
    }
  }

  @Override
  public Result txn(Operation.Txn txn, MemoryBudget.Share share) {
    return orThrow(transactions.txn(txn, share));
  }

  private static Result orThrow(Result result) {
    if (result instanceof Result.Refused refused) {
      throw new RefusedException(refused.reason());
    }
    return result;
  }

  @Override
  public KvHash hash() {
    return upkeep.hash(() -> toKvHash(machine.reader().hashNow(0)));
  }

  /** Remembered hashes are not counted, because nothing is hashed. */
  @Override
  public KvHash hashKv(long revision) {
    return compactionHashes().stream()
        .filter(remembered -> remembered.hashRevision() == revision)
        .findFirst()
        .map(remembered -> toKvHash(machine.reader().hash(revision)))
        .orElseGet(() -> upkeep.hashOfRevision(() -> toKvHash(machine.reader().hash(revision))));
  }

  @Override
  public KvHash computeHashKv(long revision) {
    return upkeep.hashOfRevision(() -> toKvHash(machine.reader().hashNow(revision)));
  }

  private static KvHash toKvHash(HashResult result) {
    if (result instanceof HashResult.Refused refused) {
      throw new RefusedException(refused.reason());
    }
    return toKvHash((HashResult.Hash) result);
  }

  private static KvHash toKvHash(HashResult.Hash hash) {
    return new KvHash(
        hash.hash(), hash.compactRevision(), hash.hashRevision(), hash.storeRevision());
  }

  @Override
  public List<KvHash> compactionHashes() {
    return machine.reader().compactionHashes().stream().map(LocalStateReader::toKvHash).toList();
  }

  @Override
  public List<Bytes> leaseKeys(long lease, MemoryBudget.Share share) {
    List<Bytes> keys = new ArrayList<>();
    try {
      machine
          .reader()
          .allAttached(
              lease,
              key -> {
                share.add(LEASE_KEY_BYTES + 2L * key.length());
                return keys.add(key);
              });
    } catch (MemoryBudget.Exceeded exceeded) {
      throw new RefusedException(exceeded.reason());
    }
    return keys;
  }

  @Override
  public boolean allLeaseKeys(long lease, Predicate<Bytes> test) {
    return machine.reader().allAttached(lease, test);
  }

  @Override
  public List<AlarmMember> alarms() {
    return machine.view().alarms();
  }

  @Override
  public AuthState auth() {
    return machine.view().auth();
  }

  @Override
  public ClusterView cluster() {
    StateView view = machine.view();
    return new ClusterView(view.membership(), view.peerUrls(), view.members());
  }

  @Override
  public ClusterVersions versions() {
    return machine.view().versions();
  }

  @Override
  public DatabaseFile openDatabase(long windowBytes) {
    return new ExportedDatabase(DatabaseExport.of(store, windowBytes));
  }

  @Override
  public long sizeOnDisk() {
    return store.sizeOnDisk();
  }

  @Override
  public long sizeInUse() {
    return store.sizeInUse();
  }

  @Override
  public CompletionStage<Void> compactionDone(long revision) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    awaitCompaction.accept(revision, done);
    return done;
  }
}
