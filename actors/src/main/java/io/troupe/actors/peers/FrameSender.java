package io.troupe.actors.peers;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The sender of a message, by its bytes as they are on the wire (docs/formats/peer-message.md).
 * Read before the message is trusted, and without decoding it.
 *
 * @param id of the sender; 0 if it is none
 * @param url peer URL that the sender names; empty if the message names none
 */
record FrameSender(long id, String url) {
  /** Version and checksum. */
  private static final int HEAD_BYTES = 5;

  private static final int FROM = 2;
  private static final int URL = 4;

  /**
   * Reads a message, a piece of one, or a query. Of a repeated field the last counts, as in the
   * decoder.
   *
   * @param named whether field 4 is the sender's URL
   * @throws IOException if the bytes are none of them
   */
  static FrameSender of(ByteBuffer body, boolean named) throws IOException {
    if (body.remaining() < HEAD_BYTES) {
      throw new IOException("no message");
    }
    CodedInputStream in =
        CodedInputStream.newInstance(
            body.slice(body.position() + HEAD_BYTES, body.remaining() - HEAD_BYTES));
    long id = 0;
    String url = "";
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      int field = WireFormat.getTagFieldNumber(tag);
      if (field == FROM && WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_FIXED64) {
        id = in.readFixed64();
      } else if (named
          && field == URL
          && WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_LENGTH_DELIMITED) {
        url = in.readString();
      } else if (!in.skipField(tag)) {
        throw new IOException("no message");
      }
    }
    return new FrameSender(id, url);
  }
}
