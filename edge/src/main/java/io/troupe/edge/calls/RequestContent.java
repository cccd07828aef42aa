package io.troupe.edge.calls;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.TextFormat;
import io.troupe.model.Bytes;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Requests in the form of the log: values as sizes, without secrets, truncated. */
final class RequestContent {
  private static final int LONGEST = 1024;
  private static final Set<String> SECRETS = Set.of("password", "hashedPassword", "token");

  private RequestContent() {}

  /** One line, fields in protobuf's text form; empty if the request cannot be decoded. */
  static String of(Descriptor type, Bytes request) {
    StringBuilder out = new StringBuilder();
    try {
      append(
          out,
          DynamicMessage.parseFrom(
              type,
              ByteString.copyFrom(
                  request.backingArray(), request.backingOffset(), request.length())));
    } catch (InvalidProtocolBufferException malformed) {
      return "";
    }
    return out.length() <= LONGEST ? out.toString().trim() : out.substring(0, LONGEST) + "...";
  }

  private static void append(StringBuilder out, Message message) {
    for (Map.Entry<FieldDescriptor, Object> field : message.getAllFields().entrySet()) {
      List<?> values = field.getValue() instanceof List<?> list ? list : List.of(field.getValue());
      for (Object value : values) {
        if (out.length() > LONGEST) {
          return;
        }
        append(out, field.getKey(), value);
      }
    }
  }

  private static void append(StringBuilder out, FieldDescriptor field, Object value) {
    String name = field.getName();
    if (SECRETS.contains(name)) {
      return;
    }
    if (value instanceof Message inner) {
      out.append(name).append(":<");
      append(out, inner);
      out.append("> ");
    } else if (value instanceof ByteString bytes && name.equals("value")) {
      out.append("value_size:").append(bytes.size()).append(' ');
    } else if (value instanceof ByteString bytes) {
      out.append(name).append(":\"").append(TextFormat.escapeBytes(bytes)).append("\" ");
    } else if (value instanceof String text) {
      out.append(name).append(":\"").append(TextFormat.escapeDoubleQuotesAndBackslashes(text));
      out.append("\" ");
    } else {
      out.append(name).append(':').append(value(field.getType(), value)).append(' ');
    }
  }

  /** Member IDs are unsigned; Java has no unsigned types. */
  private static Object value(FieldDescriptor.Type type, Object value) {
    return switch (type) {
      case UINT64, FIXED64 -> Long.toUnsignedString((Long) value);
      case UINT32, FIXED32 -> Integer.toUnsignedString((Integer) value);
      default -> value;
    };
  }
}
