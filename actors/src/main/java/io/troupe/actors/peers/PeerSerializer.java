package io.troupe.actors.peers;

import io.troupe.model.Bytes;
import io.troupe.protocol.PeerEnvelope;
import io.troupe.protocol.PeerFragment;
import io.troupe.protocol.QueryFrame;
import io.troupe.protocol.codec.PeerCodec;
import io.troupe.protocol.codec.QueryCodec;
import java.io.IOException;
import org.apache.pekko.serialization.SerializerWithStringManifest;

/** What Artery calls; the format is in docs/formats/peer-message.md. Made by Pekko. */
public final class PeerSerializer extends SerializerWithStringManifest {
  /** Part of the format between members. */
  static final int IDENTIFIER = 746_031;

  /** Of pieces, which name no URL. */
  static final char PIECE_LETTER = 'f';

  /** Of replies, which name no sender. */
  static final char REPLY_LETTER = 'r';

  private static final String WHOLE = "m";
  private static final String PIECE = "f";
  private static final String QUESTION = "q";
  private static final String REPLY = "r";

  /** True if messages have it; each is one letter. */
  static boolean isManifest(char letter) {
    return "mfqr".indexOf(letter) >= 0;
  }

  @Override
  public int identifier() {
    return IDENTIFIER;
  }

  @Override
  public String manifest(Object given) {
    Object message = given instanceof OutboundQueue.Outgoing outgoing ? outgoing.frame() : given;
    if (message instanceof QueryFrame) {
      return message instanceof QueryFrame.Question ? QUESTION : REPLY;
    }
    return message instanceof PeerFragment ? PIECE : WHOLE;
  }

  @Override
  public byte[] toBinary(Object given) {
    if (given instanceof OutboundQueue.Outgoing outgoing) {
      outgoing.encoded();
      return toBinary(outgoing.frame());
    }
    return encoded(given);
  }

  private static byte[] encoded(Object message) {
    if (message instanceof PeerEnvelope envelope) {
      return PeerCodec.encode(envelope);
    }
    if (message instanceof PeerFragment fragment) {
      return PeerCodec.encode(fragment);
    }
    if (message instanceof QueryFrame.Question question) {
      return QueryCodec.encode(question);
    }
    if (message instanceof QueryFrame.Reply reply) {
      return QueryCodec.encode(reply);
    }
    throw new IllegalArgumentException("no message between members: " + message.getClass());
  }

  /**
   * {@inheritDoc}
   *
   * <p>What cannot be read becomes an {@link Unreadable}: Artery would write a line with a stack
   * trace for each.
   */
  @Override
  public Object fromBinary(byte[] bytes, String manifest) {
    try {
      return switch (manifest) {
        case WHOLE -> PeerCodec.decode(Bytes.wrap(bytes));
        case PIECE -> PeerCodec.decodeFragment(Bytes.wrap(bytes));
        case QUESTION -> QueryCodec.decodeQuestion(Bytes.wrap(bytes));
        case REPLY -> QueryCodec.decodeReply(Bytes.wrap(bytes));
        default -> new Unreadable("unknown manifest " + manifest);
      };
    } catch (IOException e) {
      return new Unreadable(String.valueOf(e.getMessage()));
    }
  }
}
