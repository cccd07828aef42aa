package io.troupe.protocol;

import io.troupe.model.Operation;
import io.troupe.model.Result;

/**
 * Whoever keeps something in memory that follows from changes of users and roles. Told by the apply
 * room on its thread, in log order, when the change is visible to readers and before anybody is
 * answered; so it must be quick and must not wait.
 */
public interface AuthListener {
  /** Does nothing. */
  AuthListener NONE =
      new AuthListener() {
        @Override
        public void opened() {}

        @Override
        public void applied(Operation.Auth operation, Result result) {}
      };

  /**
   * The state was opened, or another one took its place: changes were skipped that nobody tells
   * of any more.
   */
  void opened();

  /**
   * An operation was applied.
   *
   * @param result never a refusal
   */
  void applied(Operation.Auth operation, Result result);
}
