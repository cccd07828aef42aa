package io.troupe.actors.member;

import io.troupe.auth.AuthState;
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
import io.troupe.mvcc.StoreException;
import io.troupe.protocol.ClusterView;
import io.troupe.protocol.DatabaseFile;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.StateReader;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads the current state. A read that was in progress when the state was replaced is refused; the
 * caller may repeat it.
 */
final class CurrentStateReader implements StateReader {
  private final Supplier<StateReader> current;

  CurrentStateReader(Supplier<StateReader> current) {
    this.current = current;
  }

  /** A reader that refuses all reads, used while no state is open. */
  static StateReader closed() {
    return new CurrentStateReader(
        () -> {
          throw new RefusedException(Refusal.NO_LEADER);
        });
  }

  private <T extends @Nullable Object> T read(Function<StateReader, T> work) {
    StateReader reader = current.get();
    return readFrom(reader, () -> work.apply(reader));
  }

  private <T extends @Nullable Object> T readFrom(StateReader reader, Supplier<T> work) {
    try {
      return work.get();
    } catch (StoreException e) {
      if (current.get() != reader) {
        throw new RefusedException(Refusal.NO_LEADER);
      }
      throw e;
    }
  }

  @Override
  public long revision() {
    return read(StateReader::revision);
  }

  @Override
  public long compactedRevision() {
    return read(StateReader::compactedRevision);
  }

  @Override
  public RangeResult range(RangeQuery query, MemoryBudget.Share share) {
    return read(reader -> reader.range(query, share));
  }

  @Override
  public @Nullable RangeResult rangeInMemory(RangeQuery query) {
    return read(reader -> reader.rangeInMemory(query));
  }

  @Override
  public Chunk chunk(
      KeyRange range,
      long revision,
      int limit,
      long maxBytes,
      boolean keysOnly,
      RangeQuery.SortTarget target) {
    return read(reader -> reader.chunk(range, revision, limit, maxBytes, keysOnly, target));
  }

  @Override
  public long count(KeyRange range, long revision) {
    return read(reader -> reader.count(range, revision));
  }

  @Override
  public long keys() {
    return read(StateReader::keys);
  }

  @Override
  public CountedBlocks countedBlocks() {
    return read(StateReader::countedBlocks);
  }

  @Override
  public void tryCompares(Operation.Txn txn, MemoryBudget.Share share) {
    read(
        reader -> {
          reader.tryCompares(txn, share);
          return true;
        });
  }

  @Override
  public Result txn(Operation.Txn txn, MemoryBudget.Share share) {
    return read(reader -> reader.txn(txn, share));
  }

  @Override
  public KvHash hash() {
    return read(StateReader::hash);
  }

  @Override
  public KvHash hashKv(long revision) {
    return read(reader -> reader.hashKv(revision));
  }

  @Override
  public KvHash computeHashKv(long revision) {
    return read(reader -> reader.computeHashKv(revision));
  }

  @Override
  public List<KvHash> compactionHashes() {
    return read(StateReader::compactionHashes);
  }

  @Override
  public List<Bytes> leaseKeys(long lease, MemoryBudget.Share share) {
    return read(reader -> reader.leaseKeys(lease, share));
  }

  @Override
  public boolean allLeaseKeys(long lease, Predicate<Bytes> test) {
    return read(reader -> reader.allLeaseKeys(lease, test));
  }

  @Override
  public List<AlarmMember> alarms() {
    return read(StateReader::alarms);
  }

  @Override
  public AuthState auth() {
    return read(StateReader::auth);
  }

  @Override
  public ClusterView cluster() {
    return read(StateReader::cluster);
  }

  @Override
  public ClusterVersions versions() {
    return read(StateReader::versions);
  }

  @Override
  public DatabaseFile openDatabase(long windowBytes) {
    StateReader reader = current.get();
    return new CurrentDatabase(readFrom(reader, () -> reader.openDatabase(windowBytes)), reader);
  }

  /** A file whose reads are refused after the state was replaced. */
  private final class CurrentDatabase implements DatabaseFile {
    private final DatabaseFile file;
    private final StateReader reader;

    CurrentDatabase(DatabaseFile file, StateReader reader) {
      this.file = file;
      this.reader = reader;
    }

    @Override
    public long revision() {
      return file.revision();
    }

    @Override
    public ClusterVersions versions() {
      return file.versions();
    }

    @Override
    public boolean measure(int records) {
      return readFrom(reader, () -> file.measure(records));
    }

    @Override
    public long bytes() {
      return file.bytes();
    }

    @Override
    public long mostBytesOfOne() {
      return file.mostBytesOfOne();
    }

    @Override
    public Bytes read(int most) {
      return readFrom(reader, () -> file.read(most));
    }

    @Override
    public void close() {
      file.close();
    }
  }

  @Override
  public long sizeOnDisk() {
    return read(StateReader::sizeOnDisk);
  }

  @Override
  public long sizeInUse() {
    return read(StateReader::sizeInUse);
  }

  @Override
  public CompletionStage<Void> compactionDone(long revision) {
    return read(reader -> reader.compactionDone(revision));
  }
}
