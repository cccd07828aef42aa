package io.troupe.bench.load;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import java.io.IOException;

/**
 * The parts of an encoded range response that decide whether it is right. Values are skipped,
 * because copying them would cost the generator more CPU than the server needs for some requests.
 *
 * @param revision of the header
 * @param keys key-value pairs in the response
 * @param lastKey key of the last pair; empty without pairs
 * @param lastModRevision its mod revision; 0 without pairs
 * @param more whether the range has more keys
 * @param count keys of the whole range
 */
record RangeReply(
    long revision, int keys, ByteString lastKey, long lastModRevision, boolean more, long count) {
  private static final int HEADER = 1;
  private static final int KVS = 2;
  private static final int MORE = 3;
  private static final int COUNT = 4;
  private static final int HEADER_REVISION = 3;
  private static final int KV_KEY = 1;
  private static final int KV_MOD_REVISION = 3;

  /**
   * Reads a response.
   *
   * @throws IOException if it is not a range response
   */
  static RangeReply read(ByteString response) throws IOException {
    CodedInputStream in = response.newCodedInput();
    long revision = 0;
    int keys = 0;
    ByteString lastKey = ByteString.EMPTY;
    long lastModRevision = 0;
    boolean more = false;
    long count = 0;
    int tag;
    while ((tag = in.readTag()) != 0) {
      switch (WireFormat.getTagFieldNumber(tag)) {
        case HEADER -> {
          int limit = in.pushLimit(in.readRawVarint32());
          revision = number(in, HEADER_REVISION);
          in.popLimit(limit);
        }
        case KVS -> {
          keys++;
          int limit = in.pushLimit(in.readRawVarint32());
          lastModRevision = 0;
          int kvTag;
          while ((kvTag = in.readTag()) != 0) {
            switch (WireFormat.getTagFieldNumber(kvTag)) {
              case KV_KEY -> lastKey = in.readBytes();
              case KV_MOD_REVISION -> lastModRevision = in.readInt64();
              default -> in.skipField(kvTag);
            }
          }
          in.popLimit(limit);
        }
        case MORE -> more = in.readBool();
        case COUNT -> count = in.readInt64();
        default -> in.skipField(tag);
      }
    }
    return new RangeReply(revision, keys, lastKey, lastModRevision, more, count);
  }

  private static long number(CodedInputStream in, int field) throws IOException {
    long value = 0;
    int tag;
    while ((tag = in.readTag()) != 0) {
      if (WireFormat.getTagFieldNumber(tag) == field) {
        value = in.readInt64();
      } else {
        in.skipField(tag);
      }
    }
    return value;
  }
}
