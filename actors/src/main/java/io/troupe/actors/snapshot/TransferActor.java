package io.troupe.actors.snapshot;

import io.troupe.metrics.SnapshotMetrics;
import io.troupe.model.NodeId;
import io.troupe.persistence.snapshot.ReceivedFiles;
import io.troupe.persistence.snapshot.SnapshotDirectory;
import io.troupe.persistence.snapshot.SnapshotException;
import io.troupe.persistence.snapshot.SnapshotManifest;
import io.troupe.persistence.snapshot.SnapshotRef;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.SnapshotMessage;
import io.troupe.protocol.SnapshotTransport;
import io.troupe.raft.SnapshotMark;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends snapshots to followers, at most one to each at a time, and receives one from a leader.
 * Blocks on the disk, for a chunk at a time.
 */
public final class TransferActor extends AbstractBehavior<TransferCommand> {
  private static final Logger LOG = LoggerFactory.getLogger(TransferActor.class);
  private static final Duration SEND_INTERVAL = Duration.ofMillis(20);

  private enum SendInterval implements TransferCommand.Private {
    INSTANCE
  }

  /** Actors and services that this actor uses. */
  public record Links(
      ActorRef<RaftCommand> raft,
      SnapshotTransport peers,
      DiskCapacity disk,
      SnapshotMetrics metrics) {}

  private record Sending(
      OutgoingTransfer transfer, TransferCommand.Start start, long startedNanos) {}

  private final TimerScheduler<TransferCommand> timers;
  private final SnapshotDirectory directory;
  private final TransferSettings settings;
  private final Links links;
  private final RateLimit limit;
  private final Map<NodeId, Sending> outgoing = new HashMap<>();
  private @Nullable IncomingTransfer incoming;

  /** Time at which the current sender of {@link #incoming} began. */
  private long incomingSinceNanos;

  private long lastChunkNanos;

  private long nextId = new SecureRandom().nextLong();

  private TransferActor(
      ActorContext<TransferCommand> context,
      TimerScheduler<TransferCommand> timers,
      SnapshotDirectory directory,
      TransferSettings settings,
      Links links) {
    super(context);
    this.timers = timers;
    this.directory = directory;
    this.settings = settings;
    this.links = links;
    this.limit = new RateLimit(settings.bytesPerSecond(), System.nanoTime());
  }

  /** The behavior of the actor. */
  public static Behavior<TransferCommand> create(
      Path snapshots, TransferSettings settings, Links links) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers ->
                    new TransferActor(
                        context, timers, new SnapshotDirectory(snapshots), settings, links)));
  }

  @Override
  public Receive<TransferCommand> createReceive() {
    return newReceiveBuilder()
        .onMessage(TransferCommand.Start.class, this::onStart)
        .onMessage(TransferCommand.FromPeer.class, this::onFromPeer)
        .onMessageEquals(SendInterval.INSTANCE, this::onSendInterval)
        .onMessage(TransferCommand.Discard.class, this::onDiscard)
        .onSignal(PostStop.class, signal -> onStop())
        .build();
  }

  // ---- sending

  private Behavior<TransferCommand> onStart(TransferCommand.Start start) {
    Sending former = outgoing.remove(start.to());
    if (former != null) {
      end(former, false, "replaced by another transfer");
    }
    long id = ++nextId;
    SnapshotRef snapshot = start.snapshot();
    try {
      SnapshotManifest manifest = directory.manifest(snapshot);
      Path content = directory.pin(snapshot, Long.toHexString(id));
      OutgoingTransfer transfer =
          new OutgoingTransfer(
              start.to(),
              id,
              start.term(),
              manifest,
              content,
              settings,
              message -> links.peers().send(start.to(), message));
      long now = System.nanoTime();
      outgoing.put(start.to(), new Sending(transfer, start, now));
      links.metrics().sending(start.to().value());
      LOG.info(
          "sending database snapshot snapshot-index={} remote-peer-id={}",
          snapshot.index(),
          start.to());
      transfer.begin(now);
      timers.startTimerWithFixedDelay(SendInterval.INSTANCE, SEND_INTERVAL);
    } catch (SnapshotException e) {
      links.metrics().sendRefused(start.to().value());
      LOG.error("cannot send snapshot remote-peer-id={}: {}", start.to(), e.getMessage());
      reportEnd(start, false);
    }
    return this;
  }

  private Behavior<TransferCommand> onSendInterval() {
    long now = System.nanoTime();
    for (Sending sending : List.copyOf(outgoing.values())) {
      if (sending.transfer().isTimedOut(now)) {
        outgoing.remove(sending.transfer().to());
        end(sending, false, "the receiver does not reply");
      } else {
        proceed(sending, () -> sending.transfer().pump(limit, now));
      }
    }
    if (outgoing.isEmpty()) {
      timers.cancel(SendInterval.INSTANCE);
    }
    return this;
  }

  private interface DiskWork {
    void run() throws IOException;
  }

  private void proceed(Sending sending, DiskWork work) {
    try {
      work.run();
    } catch (DamagedFileException e) {
      outgoing.remove(sending.transfer().to());
      LOG.error(
          "table file of this member is damaged, the receiver of the snapshot is not at fault"
              + " remote-peer-id={} snapshot-index={} file={}",
          sending.transfer().to(),
          sending.transfer().index(),
          e.file().name());
      end(sending, false, e.getMessage());
      sending.start().replyTo().tell(new SnapshotActor.Damaged(e.file()));
    } catch (IOException e) {
      outgoing.remove(sending.transfer().to());
      end(sending, false, e.toString());
    }
  }

  private void end(Sending sending, boolean ok, @Nullable String reason) {
    OutgoingTransfer transfer = sending.transfer();
    if (ok) {
      links.metrics().sent(transfer.to().value(), System.nanoTime() - sending.startedNanos());
      LOG.info(
          "sent database snapshot snapshot-index={} remote-peer-id={}",
          transfer.index(),
          transfer.to());
    } else {
      links.metrics().notSent(transfer.to().value());
      LOG.warn(
          "failed to send snapshot remote-peer-id={} snapshot-index={} reason={}",
          transfer.to(),
          transfer.index(),
          reason);
    }
    release(transfer);
    reportEnd(sending.start(), ok);
  }

  private void reportEnd(TransferCommand.Start start, boolean ok) {
    links
        .raft()
        .tell(
            new RaftCommand.SnapshotSent(
                start.to(), start.transfer(), start.snapshot().index(), ok));
    start.replyTo().tell(new SnapshotActor.TransferEnded(start.to(), start.transfer(), ok));
  }

  private void release(OutgoingTransfer transfer) {
    try {
      transfer.close();
      directory.unpin(Long.toHexString(transfer.id()));
    } catch (IOException | SnapshotException e) {
      LOG.warn(
          "cannot remove files of a transfer, they remain until the next start: {}", e.toString());
    }
  }

  // ---- messages of other members

  private Behavior<TransferCommand> onFromPeer(TransferCommand.FromPeer received) {
    receive(received);
    received.handled().run();
    return this;
  }

  private void receive(TransferCommand.FromPeer received) {
    NodeId from = received.from();
    if (received.message() instanceof SnapshotMessage.Have have) {
      Sending sending = outgoing.get(from);
      if (sending != null && sending.transfer().id() == have.transfer()) {
        proceed(sending, () -> sending.transfer().have(have, limit, System.nanoTime()));
      }
    } else if (received.message() instanceof SnapshotMessage.Finished finished) {
      Sending sending = outgoing.get(from);
      if (sending != null && sending.transfer().id() == finished.transfer()) {
        outgoing.remove(from);
        end(sending, finished.ok(), "reported by the receiver: " + finished.reason());
      }
    } else if (received.message() instanceof SnapshotMessage.Offer offer) {
      receiving(from, offer.transfer(), () -> onOffer(from, offer));
    } else if (received.message() instanceof SnapshotMessage.Chunk chunk) {
      receiving(from, chunk.transfer(), () -> onChunk(from, chunk));
    }
  }

  // ---- receiving

  /** A failure of the disk or the sender ends the transfer and does not stop this member. */
  private void receiving(NodeId from, long transfer, DiskWork work) {
    try {
      work.run();
    } catch (IOException | SnapshotException e) {
      LOG.warn("failed to receive snapshot remote-peer-id={} reason={}", from, e.toString());
      IncomingTransfer current = incoming;
      if (current == null || !current.from().equals(from)) {
        links.metrics().receiveRefused(from.value());
      }
      dropIncoming();
      links.peers().send(from, new SnapshotMessage.Finished(transfer, false, e.toString()));
    }
  }

  private void onOffer(NodeId from, SnapshotMessage.Offer offer) throws IOException {
    SnapshotManifest manifest = SnapshotManifest.decode(offer.manifest().toArrayUnsafe());
    IncomingTransfer current = incoming;
    if (current != null && current.term() > offer.term()) {
      links
          .peers()
          .send(
              from, new SnapshotMessage.Finished(offer.transfer(), false, "a newer leader sends"));
      return;
    }
    if (current != null && current.manifest().equals(manifest)) {
      if (!current.from().equals(from)) {
        links.metrics().notReceived(current.from().value());
        beginsFrom(from);
      }
      current.continueWith(from, offer.transfer(), offer.term());
    } else {
      dropIncoming();
      if (directory.has(manifest.index(), manifest.term())) {
        reportReceived(from, offer.transfer(), offer.term(), manifest);
        return;
      }
      current = begin(from, offer, manifest);
    }
    links.peers().send(from, current.have());
    completeIfAllIsThere(current);
  }

  private IncomingTransfer begin(
      NodeId from, SnapshotMessage.Offer offer, SnapshotManifest manifest) throws IOException {
    mark(manifest);
    if (links.disk().isLow()) {
      throw new IOException("the disk is nearly full");
    }
    ReceivedFiles files = directory.prepareReceived(manifest);
    long bytes =
        manifest.files().stream()
            .filter(file -> !files.has(file.name()))
            .mapToLong(SnapshotManifest.FileSum::size)
            .sum();
    if (bytes > links.disk().freeBytes()) {
      throw new IOException("not enough disk space for " + bytes + " bytes");
    }
    LOG.info(
        "receiving snapshot remote-peer-id={} snapshot-index={} bytes={} reused-files={}",
        from,
        manifest.index(),
        bytes,
        files.count());
    IncomingTransfer begun =
        new IncomingTransfer(
            manifest,
            files,
            new IncomingTransfer.Source(from, offer.transfer(), offer.term()),
            links.metrics()::fileForced);
    incoming = begun;
    beginsFrom(from);
    return begun;
  }

  private Behavior<TransferCommand> onDiscard(TransferCommand.Discard discard) {
    IncomingTransfer current = incoming;
    boolean idle = System.nanoTime() - lastChunkNanos > settings.giveUp().toNanos();
    if (current != null && !idle) {
      return this;
    }
    dropIncoming();
    try {
      directory.discardReceived(discard.diskIsLow() ? Long.MAX_VALUE : discard.upTo());
    } catch (SnapshotException e) {
      LOG.warn("cannot remove received files of a snapshot: {}", e.toString());
    }
    return this;
  }

  private void beginsFrom(NodeId from) {
    incomingSinceNanos = System.nanoTime();
    lastChunkNanos = incomingSinceNanos;
    links.metrics().receiving(from.value());
  }

  private void onChunk(NodeId from, SnapshotMessage.Chunk chunk) throws IOException {
    IncomingTransfer current = incoming;
    if (current == null || current.id() != chunk.transfer() || !current.from().equals(from)) {
      // The sender will repeat its offer.
      return;
    }
    lastChunkNanos = System.nanoTime();
    current.take(chunk);
    links.peers().send(from, current.have());
    completeIfAllIsThere(current);
  }

  private void completeIfAllIsThere(IncomingTransfer current) throws IOException {
    if (!current.isComplete()) {
      return;
    }
    current.close();
    directory.adopt(current.manifest());
    incoming = null;
    links.metrics().received(current.from().value(), System.nanoTime() - incomingSinceNanos);
    reportReceived(current.from(), current.id(), current.term(), current.manifest());
  }

  private void reportReceived(NodeId from, long transfer, long term, SnapshotManifest manifest) {
    SnapshotMark mark = mark(manifest);
    LOG.info("received snapshot remote-peer-id={} snapshot-index={}", from, manifest.index());
    links.raft().tell(new RaftCommand.SnapshotReceived(from, term, mark));
    links.peers().send(from, new SnapshotMessage.Finished(transfer, true, ""));
  }

  private static SnapshotMark mark(SnapshotManifest manifest) {
    try {
      Membership membership = MembershipCodec.decodeMembership(manifest.membership());
      return new SnapshotMark(manifest.index(), manifest.term(), membership);
    } catch (IllegalStateException | IllegalArgumentException e) {
      throw new SnapshotException(
          SnapshotException.Kind.DAMAGED, "snapshot without a usable membership: " + e, e);
    }
  }

  private void dropIncoming() {
    IncomingTransfer current = incoming;
    incoming = null;
    if (current != null) {
      links.metrics().notReceived(current.from().value());
      try {
        current.close();
      } catch (IOException e) {
        LOG.debug("cannot close an incomplete file: {}", e.toString());
      }
    }
  }

  private Behavior<TransferCommand> onStop() {
    dropIncoming();
    for (Sending sending : outgoing.values()) {
      links.metrics().notSent(sending.transfer().to().value());
      release(sending.transfer());
    }
    return this;
  }
}
