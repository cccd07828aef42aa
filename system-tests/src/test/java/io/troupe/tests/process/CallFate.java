package io.troupe.tests.process;

import io.grpc.Status;

/** The conclusion of a client from the status of its call. */
public final class CallFate {
  private CallFate() {}

  /**
   * True if the call may or may not have been applied, as with a member that was killed during it.
   * Of grpc-java that includes UNKNOWN with a cause: its own connection was closed before it knew
   * the reason; a response of a member has no cause.
   */
  public static boolean isUnknown(Status status) {
    return switch (status.getCode()) {
      case UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED -> true;
      case UNKNOWN -> status.getCause() != null;
      default -> false;
    };
  }
}
