package io.troupe.actors.peers;

import io.troupe.model.Bytes;
import io.troupe.protocol.PeerEnvelope;
import io.troupe.protocol.PeerFragment;
import io.troupe.protocol.QueryFrame;
import io.troupe.protocol.codec.PeerCodec;
import io.troupe.protocol.codec.QueryCodec;
import java.io.IOException;
import java.io.NotSerializableException;
import org.apache.pekko.serialization.SerializerWithStringManifest;

/** What Artery calls; the format is in docs/formats/peer-message.md. Made by Pekko. */
public final class PeerSerializer extends SerializerWithStringManifest {
  private static final String WHOLE = "m";
  private static final String PIECE = "f";
  private static final String QUESTION = "q";
  private static final String REPLY = "r";

  /** Part of the format between members. */
  @Override
  public int identifier() {
    return 746_031;
  }

  @Override
  public String manifest(Object message) {
    if (message instanceof QueryFrame) {
      return message instanceof QueryFrame.Question ? QUESTION : REPLY;
    }
    return message instanceof PeerFragment ? PIECE : WHOLE;
  }

  @Override
  public byte[] toBinary(Object message) {
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

  @Override
  public Object fromBinary(byte[] bytes, String manifest) throws NotSerializableException {
    try {
      return switch (manifest) {
        case WHOLE -> PeerCodec.decode(Bytes.wrap(bytes));
        case PIECE -> PeerCodec.decodeFragment(Bytes.wrap(bytes));
        case QUESTION -> QueryCodec.decodeQuestion(Bytes.wrap(bytes));
        case REPLY -> QueryCodec.decodeReply(Bytes.wrap(bytes));
        default -> throw new NotSerializableException("unknown manifest " + manifest);
      };
    } catch (NotSerializableException e) {
      throw e;
    } catch (IOException e) {
      // Artery drops the message and keeps the connection for this class of exception alone.
      NotSerializableException dropped = new NotSerializableException(e.getMessage());
      dropped.initCause(e);
      throw dropped;
    }
  }
}
