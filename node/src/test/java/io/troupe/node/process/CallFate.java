package io.troupe.node.process;

import io.grpc.Status;

/** What a client may conclude from how its call ended. */
public final class CallFate {
  private CallFate() {}

  /**
   * True if the call may or may not have been done, as it is with a member that was killed under
   * it. Of grpc-java that includes UNKNOWN with a cause: its own connection was closed before it
   * knew why; no member answers with a cause.
   */
  public static boolean isUnknown(Status status) {
    return switch (status.getCode()) {
      case UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED -> true;
      case UNKNOWN -> status.getCause() != null;
      default -> false;
    };
  }
}
