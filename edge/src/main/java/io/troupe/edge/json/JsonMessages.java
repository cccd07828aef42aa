package io.troupe.edge.json;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageOrBuilder;
import com.google.protobuf.util.JsonFormat;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.Bytes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * Converts messages from and to JSON by protobuf's rules (J2, J3): names as in the definitions,
 * defaults omitted, bytes in base64, 64-bit numbers as strings; unknown input fields are skipped.
 */
public final class JsonMessages {
  private static final JsonFormat.Printer PRINTER =
      JsonFormat.printer().preservingProtoFieldNames().omittingInsignificantWhitespace();

  private static final JsonFormat.Parser PARSER = JsonFormat.parser().ignoringUnknownFields();

  private static final Pattern INSIDE =
      Pattern.compile("(?:[a-z]\\w*\\.)+[A-Z][\\w$]*: |\\s*See https://\\S+");

  private JsonMessages() {}

  /**
   * Parses one JSON object into an encoded protobuf message.
   *
   * @param json UTF-8
   * @throws GrpcException INVALID_ARGUMENT with the reason, if the text is not such a message
   */
  public static Bytes parse(Bytes json, Descriptor type) {
    try {
      String text =
          StandardCharsets.UTF_8
              .newDecoder()
              .onMalformedInput(CodingErrorAction.REPORT)
              .decode(ByteBuffer.wrap(json.backingArray(), json.backingOffset(), json.length()))
              .toString();
      JsonShape.require(text, type);
      DynamicMessage.Builder message = DynamicMessage.newBuilder(type);
      PARSER.merge(text, message);
      return Bytes.wrap(message.build().toByteArray());
    } catch (CharacterCodingException e) {
      throw malformed("the body is not UTF-8");
    } catch (IOException e) {
      throw malformed(plain(String.valueOf(e.getMessage())));
    }
  }

  /** Removes Java class names and links to library documentation from an error text. */
  private static String plain(String message) {
    return INSIDE.matcher(message).replaceAll("").trim();
  }

  static GrpcException malformed(String why) {
    return new GrpcException(GrpcStatus.INVALID_ARGUMENT, why);
  }

  /** Prints a message as one line. */
  public static String print(MessageOrBuilder message) {
    try {
      return PRINTER.print(message);
    } catch (InvalidProtocolBufferException e) {
      // Only messages of type Any can fail, and there are none.
      throw new IllegalStateException("message cannot be printed as JSON", e);
    }
  }

  /** Prints an encoded protobuf message as one line. */
  public static String print(Bytes message, Descriptor type) {
    return print(decoded(message, type));
  }

  /**
   * Prints a message as one line, in pieces.
   *
   * @param out receives the text; its exceptions are passed on
   */
  public static void print(MessageOrBuilder message, Appendable out) throws IOException {
    PRINTER.appendTo(message, out);
  }

  /** Decodes a protobuf message of a type. */
  public static DynamicMessage decoded(Bytes message, Descriptor type) {
    try {
      return DynamicMessage.parseFrom(type, message.toArrayUnsafe());
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("response cannot be decoded", e);
    }
  }
}
