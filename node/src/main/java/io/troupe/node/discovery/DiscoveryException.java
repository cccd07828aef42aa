package io.troupe.node.discovery;

/** Discovery failed, and a retry would not help. The message has etcd's words. */
public final class DiscoveryException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  DiscoveryException(String message) {
    super(message);
  }
}
