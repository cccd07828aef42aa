package io.troupe.grpc.json;

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
 * Messages from JSON and to JSON by protobuf's own rules (J2, J3): names as in the definitions,
 * defaults left out, bytes in base64, 64-bit numbers as strings; unknown input is skipped.
 */
public final class JsonMessages {
  private static final JsonFormat.Printer PRINTER =
      JsonFormat.printer().preservingProtoFieldNames().omittingInsignificantWhitespace();

  private static final JsonFormat.Parser PARSER = JsonFormat.parser().ignoringUnknownFields();

  private static final Pattern INSIDE =
      Pattern.compile("(?:[a-z]\\w*\\.)+[A-Z][\\w$]*: |\\s*See https://\\S+");

  private JsonMessages() {}

  /**
   * A message in protobuf from one JSON object.
   *
   * @param json UTF-8
   * @throws GrpcException INVALID_ARGUMENT with what is wrong, if it is no such message
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
      throw malformed("the body is no UTF-8");
    } catch (IOException e) {
      throw malformed(plain(String.valueOf(e.getMessage())));
    }
  }

  /** What is wrong, without the names of our classes and where libraries explain themselves. */
  private static String plain(String message) {
    return INSIDE.matcher(message).replaceAll("").trim();
  }

  static GrpcException malformed(String why) {
    return new GrpcException(GrpcStatus.INVALID_ARGUMENT, why);
  }

  /** A message as one line. */
  public static String print(MessageOrBuilder message) {
    try {
      return PRINTER.print(message);
    } catch (InvalidProtocolBufferException e) {
      // Only messages of type Any can fail, and there is none.
      throw new IllegalStateException("a message has no JSON", e);
    }
  }

  /** A message in protobuf as one line. */
  public static String print(Bytes message, Descriptor type) {
    return print(decoded(message, type));
  }

  /**
   * A message as one line, piece by piece.
   *
   * @param out receives the text; what it throws is thrown
   */
  public static void print(MessageOrBuilder message, Appendable out) throws IOException {
    PRINTER.appendTo(message, out);
  }

  /** A message in protobuf as one of its type. */
  public static DynamicMessage decoded(Bytes message, Descriptor type) {
    try {
      return DynamicMessage.parseFrom(type, message.toArrayUnsafe());
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("a response does not decode", e);
    }
  }
}
