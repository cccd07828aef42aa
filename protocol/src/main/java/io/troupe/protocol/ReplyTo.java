package io.troupe.protocol;

/**
 * Receives the reply to one message. The sender of the message decides what that is: a future, or
 * an actor with {@code actor::tell}. Any thread may call it.
 */
@FunctionalInterface
public interface ReplyTo<R> {
  /** Delivers the reply. Only the first one counts, and none after the sender stopped waiting. */
  void tell(R reply);
}
