package io.troupe.protocol;

import io.troupe.model.Operation;
import io.troupe.model.Result;

/**
 * Listens to changes of users and roles, to update derived data in memory. Called by the apply
 * actor on its thread, in log order, when the change is visible to readers and before any client
 * gets a response. So a call must be quick and must not block.
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

  /** The state was opened or replaced: no calls are made for the skipped changes. */
  void opened();

  /**
   * An operation was applied.
   *
   * @param result never a refusal
   */
  void applied(Operation.Auth operation, Result result);
}
