package io.troupe.node.backup;

import io.troupe.model.Entry;
import io.troupe.persistence.backup.BackupException;
import io.troupe.protocol.LogEntries;
import io.troupe.protocol.WalCommand;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Scheduler;
import org.apache.pekko.actor.typed.javadsl.AskPattern;

/**
 * Reads entries through the WAL actor. Blocks.
 *
 * @param wal the current actor; while the files are closed none replies
 */
public record WalEntries(Supplier<ActorRef<WalCommand>> wal, Scheduler scheduler)
    implements LogShipper.Entries {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  @Override
  public List<Entry> read(long from, long until, long maxBytes) {
    CompletionStage<LogEntries> reply =
        AskPattern.ask(
            wal.get(),
            replyTo -> new WalCommand.ReadEntries(from, until, maxBytes, replyTo),
            TIMEOUT,
            scheduler);
    try {
      return reply.toCompletableFuture().get(2 * TIMEOUT.toSeconds(), TimeUnit.SECONDS).entries();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BackupException("interrupted while reading the log of this member", e);
    } catch (ExecutionException | TimeoutException e) {
      throw new BackupException("cannot read entry " + from + " of this member's log: " + e, e);
    }
  }
}
