package io.troupe.grpc.error;

import java.util.List;

/**
 * A gRPC status.
 *
 * @param code gRPC status code, 0..16
 * @param message text for the client; any characters
 */
public record GrpcStatus(int code, String message) {
  /** Success. */
  public static final GrpcStatus OK = new GrpcStatus(0, "");

  public static final int CANCELED = 1;
  public static final int UNKNOWN = 2;
  public static final int INVALID_ARGUMENT = 3;
  public static final int DEADLINE_EXCEEDED = 4;
  public static final int NOT_FOUND = 5;
  public static final int ALREADY_EXISTS = 6;
  public static final int PERMISSION_DENIED = 7;
  public static final int RESOURCE_EXHAUSTED = 8;
  public static final int FAILED_PRECONDITION = 9;
  public static final int ABORTED = 10;
  public static final int OUT_OF_RANGE = 11;
  public static final int UNIMPLEMENTED = 12;
  public static final int INTERNAL = 13;
  public static final int UNAVAILABLE = 14;
  public static final int DATA_LOSS = 15;
  public static final int UNAUTHENTICATED = 16;

  /** Names of the codes 0..16, as in Go's gRPC library. */
  public static final List<String> NAMES =
      List.of(
          "OK",
          "Canceled",
          "Unknown",
          "InvalidArgument",
          "DeadlineExceeded",
          "NotFound",
          "AlreadyExists",
          "PermissionDenied",
          "ResourceExhausted",
          "FailedPrecondition",
          "Aborted",
          "OutOfRange",
          "Unimplemented",
          "Internal",
          "Unavailable",
          "DataLoss",
          "Unauthenticated");

  /** The text of Go's gRPC library, which a watch's cancel reason contains (W18). */
  public String text() {
    return "rpc error: code = " + NAMES.get(code) + " desc = " + message;
  }
}
