package io.troupe.ctl.client;

import io.grpc.Status;
import io.grpc.Status.Code;
import java.util.Locale;

/** A call failed. The message is the text of etcd's Go client. */
public final class RpcException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient Status status;

  RpcException(Status status) {
    super(text(status), status.getCause());
    this.status = status;
  }

  /** The status of the call. */
  public Code code() {
    return status.getCode();
  }

  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }

  /** Whether the server refused with this text. */
  public boolean isText(String text) {
    return text.equals(status.getDescription());
  }

  private static String text(Status status) {
    String description = status.getDescription() == null ? "" : status.getDescription();
    if (description.startsWith("etcdserver: ")) {
      return description;
    }
    return switch (status.getCode()) {
      case DEADLINE_EXCEEDED -> "context deadline exceeded";
      case CANCELLED -> "context canceled";
      default -> {
        String cause = status.getCause() == null ? "" : " (" + status.getCause().getMessage() + ")";
        yield "rpc error: code = " + name(status.getCode()) + " desc = " + description + cause;
      }
    };
  }

  /** Go's name of a code: {@code InvalidArgument}. */
  private static String name(Code code) {
    if (code == Code.OK) {
      return "OK";
    }
    StringBuilder name = new StringBuilder();
    for (String word : code.name().split("_", -1)) {
      name.append(word.charAt(0)).append(word.substring(1).toLowerCase(Locale.ROOT));
    }
    return name.toString();
  }
}
