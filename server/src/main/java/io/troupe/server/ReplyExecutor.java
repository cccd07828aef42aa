package io.troupe.server;

import io.troupe.protocol.ReplyBatch;
import java.util.concurrent.Executor;

/**
 * Runs what follows a reply to a client's proposal: conversion, metrics, encoding. Never on the
 * thread of the actor that replies, which has the next entries to apply.
 */
@FunctionalInterface
public interface ReplyExecutor extends Executor {
  /**
   * Runs a task after a reply that is one of a batch.
   *
   * @param batch the executor may wait until its replies are sent, so that its tasks start together
   */
  default void execute(Runnable task, ReplyBatch batch) {
    execute(task);
  }
}
