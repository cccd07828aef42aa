package io.troupe.node.discovery;

/** The meeting cannot be joined, and trying again would not help. The message has etcd's words. */
public final class DiscoveryException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  DiscoveryException(String message) {
    super(message);
  }
}
