package io.troupe.server;

import io.troupe.auth.Authorizer;
import io.troupe.grpc.api.AlarmRequest;
import io.troupe.grpc.api.AlarmResponse;
import io.troupe.grpc.api.DefragmentResponse;
import io.troupe.grpc.api.DowngradeInfo;
import io.troupe.grpc.api.DowngradeRequest;
import io.troupe.grpc.api.DowngradeResponse;
import io.troupe.grpc.api.HashKVRequest;
import io.troupe.grpc.api.HashKVResponse;
import io.troupe.grpc.api.HashResponse;
import io.troupe.grpc.api.MoveLeaderRequest;
import io.troupe.grpc.api.MoveLeaderResponse;
import io.troupe.grpc.api.StatusResponse;
import io.troupe.grpc.convert.ApiConverter;
import io.troupe.grpc.error.GrpcErrors;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.AlarmType;
import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.protocol.DatabaseFile;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.StateReader;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Section 2.13. */
public final class MaintenanceService {
  private static final long DEFAULT_QUOTA = 2L << 30;

  /** Snapshot streams of clients at once. Each holds its window and deleted records on disk. */
  private static final int MOST_SNAPSHOTS = 2;

  private static final long LEAST_WINDOW_BYTES = 1 << 20;
  private static final long MOST_WINDOW_BYTES = 32 << 20;

  private final Member member;
  private final ReadIndexBatcher reads;
  private final Proposer proposer;
  private final Quota quota;
  private final Downgrades downgrades;
  private final LeaderTransfer transfer;
  private final Supplier<CompletionStage<Void>> defragment;
  private final CallerResolver callers;
  private final long snapshotBytesPerSecond;
  private final int maxRequestBytes;
  private final Semaphore snapshots = new Semaphore(MOST_SNAPSHOTS);

  MaintenanceService(
      Member member,
      ReadIndexBatcher reads,
      Proposer proposer,
      Quota quota,
      LeaderTransfer transfer,
      Supplier<CompletionStage<Void>> defragment,
      CallerResolver callers,
      long snapshotBytesPerSecond,
      int maxRequestBytes) {
    this.callers = callers;
    this.snapshotBytesPerSecond = snapshotBytesPerSecond;
    this.maxRequestBytes = maxRequestBytes;
    this.member = member;
    this.reads = reads;
    this.proposer = proposer;
    this.quota = quota;
    this.downgrades = new Downgrades(member, reads, proposer);
    this.transfer = transfer;
    this.defragment = defragment;
  }

  /** MT1, MT2. */
  public CompletionStage<StatusResponse> status(Call call) {
    return callers
        .checked(call, Authorizer::authenticated)
        .thenCompose(who -> reads.serializable(ReadIndexBatcher.Kind.POINT, this::status));
  }

  private StatusResponse status() {
    // Read before the commit index; otherwise the applied index could exceed it.
    long applied = member.status().applied();
    ClusterVersions versions = member.state().versions();
    EtcdVersion target = versions.downgradeTarget();
    StatusResponse.Builder out =
        StatusResponse.newBuilder()
            .setHeader(member.header())
            .setVersion(member.serverVersion().toString())
            .setDbSize(member.state().sizeOnDisk())
            .setDbSizeInUse(member.state().sizeInUse())
            .setDbSizeQuota(quota.bytes() == 0 ? DEFAULT_QUOTA : quota.bytes())
            .setLeader(member.status().leader().value())
            .setRaftIndex(member.status().committed())
            .setRaftAppliedIndex(applied)
            .setRaftTerm(member.status().term())
            .setIsLearner(member.isLearner())
            .setStorageVersion(storageVersion(versions))
            .setDowngradeInfo(
                DowngradeInfo.newBuilder()
                    .setEnabled(versions.isDowngrading())
                    .setTargetVersion(target == null ? "" : target.toString()));
    if (member.status().leader().isNone()) {
      out.addErrors(GrpcErrors.of(Refusal.NO_LEADER).message());
    }
    member
        .state()
        .alarms()
        .forEach(
            alarm ->
                out.addErrors(
                    (alarm.member().isNone()
                            ? ""
                            : "memberID:" + Long.toUnsignedString(alarm.member().value()) + " ")
                        + "alarm:"
                        + alarm.type()));
    return out.build();
  }

  /** Empty if unknown. */
  private static String storageVersion(ClusterVersions versions) {
    EtcdVersion storage = versions.storage();
    return storage == null ? "" : storage.toString();
  }

  /** MT11. */
  public CompletionStage<DowngradeResponse> downgrade(DowngradeRequest request, Call call) {
    return callers.root(call).thenCompose(who -> downgrades.handle(request, who, call));
  }

  /** MT3. */
  public CompletionStage<AlarmResponse> alarm(AlarmRequest request, Call call) {
    AlarmType type = alarmType(request.getAlarmValue());
    NodeId who = new NodeId(request.getMemberID());
    Operation operation =
        switch (request.getAction()) {
          case GET -> new Operation.AlarmGet(type);
          case ACTIVATE -> new Operation.AlarmActivate(who, type);
          case DEACTIVATE -> new Operation.AlarmDeactivate(who, type);
          case UNRECOGNIZED ->
              throw new GrpcException(
                  GrpcStatus.INVALID_ARGUMENT,
                  "etcdserver: unknown alarm action " + request.getActionValue());
        };
    return callers
        .writer(call)
        .thenCompose(caller -> proposer.propose(caller, operation, call))
        .thenApply(
            result -> {
              Result.Alarms alarms = (Result.Alarms) result;
              AlarmResponse.Builder out =
                  AlarmResponse.newBuilder().setHeader(member.header(alarms.revision()));
              alarms.alarms().forEach(alarm -> out.addAlarms(ApiConverter.alarm(alarm)));
              return out.build();
            });
  }

  private static AlarmType alarmType(int code) {
    try {
      return AlarmType.ofCode(code);
    } catch (IllegalArgumentException unknown) {
      throw new GrpcException(
          GrpcStatus.INVALID_ARGUMENT, "etcdserver: unknown alarm type " + code);
    }
  }

  /**
   * Responds when the space is free (MT5), because operators disarm NOSPACE next. Reads and writes
   * continue meanwhile. No header (R7).
   */
  public CompletionStage<DefragmentResponse> defragment(Call call) {
    return callers
        .root(call)
        .thenCompose(who -> defragment.get())
        .thenApply(done -> DefragmentResponse.getDefaultInstance());
  }

  /** MT10. No header (R7). */
  public CompletionStage<MoveLeaderResponse> moveLeader(MoveLeaderRequest request, Call call) {
    return callers
        .root(call)
        .thenCompose(who -> transfer.moveTo(new NodeId(request.getTargetID()), call.retryLimit()))
        .thenApply(moved -> MoveLeaderResponse.getDefaultInstance());
  }

  /** MT6. */
  public CompletionStage<HashResponse> hash(Call call) {
    return callers
        .root(call)
        .thenCompose(
            who ->
                reads.serializable(
                    ReadIndexBatcher.Kind.HASH,
                    () ->
                        HashResponse.newBuilder()
                            .setHeader(member.header())
                            .setHash(member.state().hash().hash())
                            .build()));
  }

  /** MT6, MT7. */
  public CompletionStage<HashKVResponse> hashKv(HashKVRequest request, Call call) {
    return callers
        .root(call)
        .thenCompose(
            who ->
                reads.serializable(
                    ReadIndexBatcher.Kind.HASH, () -> hashKv(request.getRevision())));
  }

  private HashKVResponse hashKv(long revision) {
    StateReader.KvHash hash = member.state().hashKv(revision);
    return HashKVResponse.newBuilder()
        .setHeader(member.header(hash.currentRevision()))
        .setHash(hash.hash())
        .setCompactRevision(hash.compactRevision())
        .setHashRevision(hash.hashRevision())
        .build();
  }

  /** MT8. The caller closes the session. */
  public CompletionStage<SnapshotSession> snapshot(Call call) {
    return callers.root(call).thenApplyAsync(who -> openSnapshot(call), member.reads().ranges());
  }

  private SnapshotSession openSnapshot(Call call) {
    if (!snapshots.tryAcquire()) {
      throw new RefusedException(Refusal.TOO_MANY_REQUESTS);
    }
    @Nullable SnapshotSession opened = null;
    try {
      long share = Runtime.getRuntime().maxMemory() / 64;
      long window = Math.max(LEAST_WINDOW_BYTES, Math.min(MOST_WINDOW_BYTES, share));
      SnapshotSession.Memory memory =
          new SnapshotSession.Memory(call.memory(), window, maxRequestBytes);
      memory.takeForMeasuring();
      DatabaseFile file = member.state().openDatabase(window);
      opened =
          new SnapshotSession(
              file,
              memory,
              storageVersion(file.versions()),
              snapshotBytesPerSecond,
              member.reads().ranges(),
              member.scheduler(),
              snapshots::release);
      return opened;
    } finally {
      if (opened == null) {
        snapshots.release();
      }
    }
  }
}
