package io.troupe.server;

import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Writes a backup of this member's state on request. */
public interface BackupRequests {
  /** Of a member without backups. */
  BackupRequests NONE =
      () ->
          CompletableFuture.failedFuture(
              new GrpcException(
                  GrpcStatus.FAILED_PRECONDITION,
                  "this member writes no backups: troupe.backup.directory is not set"));

  /**
   * Writes a backup that contains everything that was acknowledged before this call.
   *
   * @return fails with a GrpcException
   */
  CompletionStage<WrittenBackup> write();
}
