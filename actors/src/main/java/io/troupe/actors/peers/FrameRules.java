package io.troupe.actors.peers;

import io.troupe.metrics.RateLimitedLogger;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.apache.pekko.actor.Address;
import org.apache.pekko.protobufv3.internal.InvalidProtocolBufferException;
import org.apache.pekko.remote.ArteryControlFormats;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * What another member's Artery sends to this one, and what it does not. Members send handshakes,
 * and messages of {@link PeerSerializer} to the three actors that await them; both in one form
 * only, because addresses are not shortened. Artery itself would believe much more: a message for
 * any actor, or one that declares a member dead for good.
 *
 * <p>Thread-safe.
 *
 * @source org.apache.pekko.remote.artery.EnvelopeBuffer, ArteryMessageSerializer (1.7)
 */
final class FrameRules {
  /** What is done with a frame. */
  enum Verdict {
    PASS,
    DROP,
    /** No well-behaved peer sends it: the connection is closed. */
    END
  }

  /** The peer of one connection; null until it identifies itself. */
  static final class Origin {
    private final PeerCertificate certificate;
    private @Nullable Long uid;

    /** No handshake yet. */
    Origin(PeerCertificate certificate) {
      this.certificate = certificate;
    }

    /** Returns true if a peer may only send messages of the members that its certificate is for. */
    private boolean isBound() {
      return certificate != PeerCertificate.ANY;
    }
  }

  /** Fixed part of the header, and three texts with their lengths. */
  static final int MIN_BYTES = 28 + 3 * 2;

  private static final int MAX_HANDSHAKE_BYTES = 4096;
  private static final int MAX_HOST_CHARS = 255;

  private static final int UID = 4;
  private static final int SERIALIZER = 12;
  private static final int TAGS = 16;
  private static final int TEXTS = 28;

  /** Artery's own messages. */
  private static final int ARTERY = 17;

  private static final int CONTROL = 1;
  private static final int ORDINARY = 2;
  private static final int LARGE = 3;
  private static final String HANDSHAKE = "d";
  private static final String HANDSHAKE_ANSWER = "e";
  private static final String QUARANTINED = "a";

  private final RateLimitedLogger log =
      new RateLimitedLogger(LoggerFactory.getLogger(FrameRules.class));
  private final Address self;
  private final HandshakeFilter admission;
  private final Map<Integer, List<byte[]>> refs;

  FrameRules(Address self, HandshakeFilter admission) {
    this.self = self;
    this.admission = admission;
    this.refs =
        Map.of(
            CONTROL,
            List.of(),
            ORDINARY,
            List.of(path(PeerConfig.RAFT_INBOX), path(PeerConfig.QUERIES)),
            LARGE,
            List.of(path(PeerConfig.SNAPSHOT_INBOX)));
  }

  private byte[] path(String actor) {
    return (self + "/user/" + actor).getBytes(StandardCharsets.US_ASCII);
  }

  /** True for the numbers that tell Artery's three streams apart. */
  static boolean isStream(int stream) {
    return stream >= CONTROL && stream <= LARGE;
  }

  /**
   * Checks one frame.
   *
   * @param stream the connection's
   * @param frame all of it, little endian, at least {@link #MIN_BYTES}; not changed
   */
  Verdict check(int stream, ByteBuffer frame, Origin origin) {
    // Version, flags, and versions of tables of short forms.
    if (frame.getInt(0) != 0) {
      return Verdict.END;
    }
    long uid = frame.getLong(UID);
    if (origin.uid != null && origin.uid != uid) {
      return Verdict.END;
    }
    int sender = TEXTS;
    int receiver = after(frame, sender);
    int manifest = receiver < 0 ? -1 : after(frame, receiver);
    int body = manifest < 0 ? -1 : after(frame, manifest);
    // A tag says where its text is, or is a short form.
    if (body < 0
        || frame.getInt(TAGS) != sender
        || frame.getInt(TAGS + 4) != receiver
        || frame.getInt(TAGS + 8) != manifest) {
      return Verdict.END;
    }
    boolean fromNobody = receiver == sender + 2;
    if (frame.getInt(SERIALIZER) == ARTERY) {
      boolean toNobody = manifest == receiver + 2;
      return fromNobody && toNobody && body == manifest + 3
          ? control(stream, (char) frame.get(manifest + 2), frame, body, uid, origin)
          : Verdict.DROP;
    }
    if (!fromNobody
        || frame.getInt(SERIALIZER) != PeerSerializer.IDENTIFIER
        || body != manifest + 3
        || !PeerSerializer.isManifest((char) frame.get(manifest + 2))
        || !isActor(stream, frame, receiver)) {
      return Verdict.END;
    }
    return !origin.isBound() || isOwn((char) frame.get(manifest + 2), frame, body, origin)
        ? Verdict.PASS
        : Verdict.DROP;
  }

  /**
   * Whether the other side may send this message: the handshake came over the same connection, and
   * the certificate is for a host of the sender that the message names. What Artery sends before a
   * handshake, after a connection broke, is lost.
   */
  private boolean isOwn(char manifest, ByteBuffer frame, int body, Origin origin) {
    if (origin.uid == null) {
      return false;
    }
    if (manifest == PeerSerializer.REPLY_LETTER) {
      // Carries no name: the requester knows it by a number that only the asked member knows.
      return true;
    }
    try {
      FrameSender sender =
          FrameSender.of(
              frame.slice(body, frame.limit() - body), manifest != PeerSerializer.PIECE_LETTER);
      if (isOwn(sender, origin.certificate)) {
        return true;
      }
      log.warn(
          "dropped a message, the certificate of its sender is not for the member that it names;",
          "remote-peer-id=" + Long.toHexString(sender.id()));
    } catch (IOException unreadable) {
      log.warn("dropped a message that cannot be read:", String.valueOf(unreadable.getMessage()));
    }
    return false;
  }

  /**
   * A sender that is no member as far as is known here is held to the URL that it names, and a
   * piece of its message, which names none, to nothing: the whole message repeats the sender.
   */
  private boolean isOwn(FrameSender sender, PeerCertificate certificate) {
    List<String> urls = admission.urlsOf(sender.id());
    if (urls.isEmpty()) {
      return sender.url().isEmpty() || isFor(certificate, sender.url());
    }
    return urls.stream().anyMatch(url -> isFor(certificate, url));
  }

  private static boolean isFor(PeerCertificate certificate, String url) {
    try {
      return certificate.isFor(PeerAddress.of(url).bareHost());
    } catch (IllegalArgumentException noUrl) {
      return false;
    }
  }

  /** Where the next text begins, or -1 if this one does not end in the frame. */
  private static int after(ByteBuffer frame, int text) {
    if (text + 2 > frame.limit()) {
      return -1;
    }
    int next = text + 2 + Short.toUnsignedInt(frame.getShort(text));
    return next > frame.limit() ? -1 : next;
  }

  private boolean isActor(int stream, ByteBuffer frame, int receiver) {
    int length = Short.toUnsignedInt(frame.getShort(receiver));
    for (byte[] actor : refs.getOrDefault(stream, List.of())) {
      if (actor.length == length
          && frame.slice(receiver + 2, length).equals(ByteBuffer.wrap(actor))) {
        return true;
      }
    }
    return false;
  }

  /**
   * Of Artery's own messages only the handshake is accepted. The others belong to unused features.
   * One of them, in which the sender ends its process, quarantines that process permanently, even
   * if another peer sent it.
   */
  private Verdict control(
      int stream, char manifest, ByteBuffer frame, int body, long uid, Origin origin) {
    String kind = String.valueOf(manifest);
    if (kind.equals(QUARANTINED)) {
      log.warn("a peer reports that it has cut this member off until one of the two restarts;", "");
    }
    boolean answer = stream == CONTROL && kind.equals(HANDSHAKE_ANSWER);
    if (!answer && !kind.equals(HANDSHAKE)) {
      return Verdict.DROP;
    }
    if (frame.limit() > MAX_HANDSHAKE_BYTES) {
      return Verdict.END;
    }
    ArteryControlFormats.UniqueAddress from;
    try {
      ByteBuffer bytes = frame.slice(body, frame.limit() - body);
      if (answer) {
        from = ArteryControlFormats.MessageWithAddress.parseFrom(bytes).getAddress();
      } else {
        ArteryControlFormats.HandshakeReq request =
            ArteryControlFormats.HandshakeReq.parseFrom(bytes);
        from = request.getFrom();
        if (!isSelf(request.getTo())) {
          log.warn(
              "a member calls this one by another address; it must be the same text for all",
              "here=" + self + " there=" + text(request.getTo()));
          return Verdict.DROP;
        }
      }
    } catch (InvalidProtocolBufferException damaged) {
      return Verdict.END;
    }
    if (!isMemberLike(from.getAddress()) || from.getUid() != uid) {
      return Verdict.END;
    }
    PeerAddress address =
        new PeerAddress(from.getAddress().getHostname(), from.getAddress().getPort());
    if (!origin.certificate.isFor(address.bareHost())) {
      log.warn(
          "handshake refused: its certificate is not for that host",
          "from=" + address.host() + ":" + address.port());
      return Verdict.DROP;
    }
    String refusal = admission.refusal(address, uid, System.nanoTime());
    if (refusal != null) {
      log.warn("handshake refused: " + refusal, "from=" + address.host() + ":" + address.port());
      return Verdict.DROP;
    }
    origin.uid = uid;
    return Verdict.PASS;
  }

  private boolean isSelf(ArteryControlFormats.Address to) {
    return to.getProtocol().equals(self.protocol())
        && to.getSystem().equals(self.system())
        && self.getHost().equals(java.util.Optional.of(to.getHostname()))
        && self.getPort().equals(java.util.Optional.of(to.getPort()));
  }

  private boolean isMemberLike(ArteryControlFormats.Address from) {
    return from.getProtocol().equals(self.protocol())
        && from.getSystem().equals(self.system())
        && isHost(from.getHostname())
        && from.getPort() > 0
        && from.getPort() <= 65535;
  }

  private static boolean isHost(String host) {
    if (host.isEmpty() || host.length() > MAX_HOST_CHARS) {
      return false;
    }
    for (int i = 0; i < host.length(); i++) {
      char c = host.charAt(i);
      boolean plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (!plain && ".-_:[]%".indexOf(c) < 0) {
        return false;
      }
    }
    return true;
  }

  /** For the log: text from an unknown peer, without its line breaks. */
  private static String text(ArteryControlFormats.Address address) {
    String host = address.getHostname();
    return isHost(host) ? host + ":" + address.getPort() : "(no host)";
  }
}
