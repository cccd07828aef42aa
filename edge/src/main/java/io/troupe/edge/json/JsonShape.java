package io.troupe.edge.json;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Checks JSON before protobuf's parser builds a tree of it. That parser accepts names without
 * quotes, comments and repeated names. It turns numbers into BigDecimal, which takes minutes for
 * {@code "1e100000000"} or for megabytes of digits. Its tree takes many times the size of the text.
 * This check takes time and memory in proportion to the text. Not thread-safe.
 */
final class JsonShape {
  /** A nested transaction takes four levels, so etcd's own limits apply long before. */
  static final int MAX_DEPTH = 200;

  /** Names, values, objects and arrays. A transaction of 128 operations has about 4,000. */
  static final int MAX_ELEMENTS = 100_000;

  /** Every 64-bit number, also with a fraction or an exponent that keeps it an integer. */
  private static final Pattern NUMBER =
      Pattern.compile("[-+]?[0-9.]{1,40}(?:[eE][-+]?[0-9]{1,2})?");

  /** Characters of an invalid number that the error shows. */
  private static final int SHOWN = 40;

  /** An open object or array. */
  private static final class Level {
    /** Type of the object; null if unknown. */
    private final @Nullable Descriptor type;

    private final Set<String> names = new HashSet<>();

    /** Field of the next value; null if unknown. */
    private @Nullable FieldDescriptor field;

    Level(@Nullable Descriptor type, @Nullable FieldDescriptor field) {
      this.type = type;
      this.field = field;
    }
  }

  private final Deque<Level> levels = new ArrayDeque<>();
  private final Descriptor root;
  private int elements;

  private JsonShape(Descriptor root) {
    this.root = root;
  }

  /**
   * Checks a text.
   *
   * @throws IOException with the reason
   */
  static void require(String text, Descriptor type) throws IOException {
    try (JsonReader reader = new JsonReader(new StringReader(text))) {
      new JsonShape(type).read(reader);
    }
  }

  private void read(JsonReader reader) throws IOException {
    do {
      JsonToken token = reader.peek();
      switch (token) {
        case BEGIN_OBJECT -> {
          reader.beginObject();
          begin(true);
        }
        case BEGIN_ARRAY -> {
          reader.beginArray();
          begin(false);
        }
        case END_OBJECT -> {
          reader.endObject();
          levels.pop();
        }
        case END_ARRAY -> {
          reader.endArray();
          levels.pop();
        }
        case NAME -> name(reader.nextName());
        case STRING, NUMBER -> scalar(token, reader.nextString());
        default -> {
          count();
          reader.skipValue();
        }
      }
    } while (!levels.isEmpty());
  }

  private void count() throws IOException {
    if (++elements > MAX_ELEMENTS) {
      throw new IOException("more than " + MAX_ELEMENTS + " elements");
    }
  }

  private void begin(boolean object) throws IOException {
    count();
    if (levels.size() == MAX_DEPTH) {
      throw new IOException("exceeded max depth");
    }
    Level outer = levels.peek();
    FieldDescriptor field = outer == null ? null : outer.field;
    Descriptor type = outer == null ? root : messageOf(field);
    levels.push(new Level(object ? type : null, object ? null : field));
  }

  private static @Nullable Descriptor messageOf(@Nullable FieldDescriptor field) {
    return field != null && field.getJavaType() == FieldDescriptor.JavaType.MESSAGE
        ? field.getMessageType()
        : null;
  }

  private void name(String name) throws IOException {
    count();
    Level level = levels.element();
    if (!level.names.add(name)) {
      throw new IOException("duplicate field \"" + name + "\"");
    }
    level.field = level.type == null ? null : field(level.type, name);
  }

  private static @Nullable FieldDescriptor field(Descriptor type, String name) {
    for (FieldDescriptor field : type.getFields()) {
      if (field.getName().equals(name) || field.getJsonName().equals(name)) {
        return field;
      }
    }
    return null;
  }

  private void scalar(JsonToken token, String value) throws IOException {
    count();
    Level level = levels.peek();
    FieldDescriptor field = level == null ? null : level.field;
    if (field == null) {
      return;
    }
    switch (field.getJavaType()) {
      case INT, LONG, FLOAT, DOUBLE -> requireNumber(field, value);
      case ENUM -> {
        // The text is a name or a number.
        if (field.getEnumType().findValueByName(value) == null) {
          requireNumber(field, value);
        }
      }
      default -> {
        if (token == JsonToken.NUMBER) {
          requireNumber(field, value);
        }
      }
    }
  }

  private static void requireNumber(FieldDescriptor field, String value) throws IOException {
    if (!NUMBER.matcher(value).matches()) {
      String shown = value.length() <= SHOWN ? value : value.substring(0, SHOWN) + "...";
      throw new IOException(
          "invalid value for "
              + field.getType().name().toLowerCase(java.util.Locale.ROOT)
              + " field "
              + field.getName()
              + ": \""
              + shown
              + "\"");
    }
  }
}
