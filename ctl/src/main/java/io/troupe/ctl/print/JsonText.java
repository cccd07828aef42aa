package io.troupe.ctl.print;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.util.Base64;
import java.util.List;
import java.util.Locale;

/**
 * JSON in the form of Go's encoder: fields in the order of the message, absent ones omitted, bytes
 * in base64, enums as numbers, and {@code <}, {@code >}, {@code &} escaped.
 */
final class JsonText {
  private final StringBuilder out = new StringBuilder();
  private boolean first = true;

  JsonText open(char bracket) {
    out.append(bracket);
    first = true;
    return this;
  }

  JsonText close(char bracket) {
    out.append(bracket);
    first = false;
    return this;
  }

  /** Separates elements of a list. */
  JsonText element() {
    if (!first) {
      out.append(',');
    }
    first = false;
    return this;
  }

  JsonText name(String name) {
    element();
    string(name);
    out.append(':');
    return this;
  }

  JsonText raw(String json) {
    out.append(json);
    first = false;
    return this;
  }

  JsonText field(String name, long value) {
    return name(name).raw(Long.toString(value));
  }

  JsonText field(String name, boolean value) {
    return name(name).raw(Boolean.toString(value));
  }

  JsonText field(String name, String value) {
    return name(name).string(value);
  }

  JsonText field(String name, Message value) {
    return name(name).message(value);
  }

  JsonText bytes(ByteString bytes) {
    return raw('"' + Base64.getEncoder().encodeToString(bytes.toByteArray()) + '"');
  }

  JsonText message(Message message) {
    open('{');
    fields(message);
    return close('}');
  }

  /** The fields of a message without braces. */
  JsonText fields(Message message) {
    for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
      if (field.isRepeated() ? message.getRepeatedFieldCount(field) == 0 : !isSet(message, field)) {
        continue;
      }
      name(field.getName());
      Object value = message.getField(field);
      if (value instanceof List<?> list) {
        open('[');
        for (Object item : list) {
          element();
          value(field, item);
        }
        close(']');
      } else {
        value(field, value);
      }
    }
    return this;
  }

  private static boolean isSet(Message message, FieldDescriptor field) {
    return field.hasPresence()
        ? message.hasField(field)
        : !message.getField(field).equals(field.getDefaultValue());
  }

  private void value(FieldDescriptor field, Object value) {
    if (value instanceof Message message) {
      message(message);
    } else if (value instanceof ByteString bytes) {
      bytes(bytes);
    } else if (value instanceof EnumValueDescriptor constant) {
      raw(Integer.toString(constant.getNumber()));
    } else if (value instanceof String text) {
      string(text);
    } else {
      raw(
          switch (field.getType()) {
            case UINT64, FIXED64 -> Long.toUnsignedString((Long) value);
            case UINT32, FIXED32 -> Integer.toUnsignedString((Integer) value);
            default -> value.toString();
          });
    }
  }

  JsonText string(String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        case '\b' -> out.append("\\b");
        case '\f' -> out.append("\\f");
        default -> {
          if (c < ' ' || c == '<' || c == '>' || c == '&' || c == '\u2028' || c == '\u2029') {
            out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    out.append('"');
    first = false;
    return this;
  }

  @Override
  public String toString() {
    return out.toString();
  }
}
