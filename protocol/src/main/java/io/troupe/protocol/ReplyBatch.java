package io.troupe.protocol;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Replies that an actor sends one after the other. The receiver of one of them may postpone its
 * work until all are sent, so that a receiver of several replies starts once. Any thread may use
 * it.
 */
public final class ReplyBatch {
  /** For a reply that is sent alone: nothing is postponed. */
  public static final ReplyBatch ALONE = new ReplyBatch();

  static {
    ALONE.sent();
  }

  private final Set<Runnable> actions = new LinkedHashSet<>();
  private boolean sent;

  /**
   * Runs an action once all replies of this batch are sent: on the thread that sends them, or
   * immediately if they are sent.
   *
   * @param action short, never fails; runs once, however often it is added
   */
  public void whenSent(Runnable action) {
    synchronized (this) {
      if (!sent) {
        actions.add(action);
        return;
      }
    }
    action.run();
  }

  /** Runs the postponed actions. The actor calls this once, after the last reply. */
  public void sent() {
    synchronized (this) {
      sent = true;
    }
    // No other thread adds any from here on.
    actions.forEach(Runnable::run);
    actions.clear();
  }
}
