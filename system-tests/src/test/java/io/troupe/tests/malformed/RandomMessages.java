package io.troupe.tests.malformed;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import java.util.List;
import java.util.Random;

/** Messages that decode, with any content. */
final class RandomMessages {
  private static final int DEPTH = 4;
  private static final long[] NUMBERS = {
    0, 1, 2, 60, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE
  };
  private static final List<String> TEXTS =
      List.of("", "a", "http://", "root", "\0", "key", "é\ud83d\ude00", "k".repeat(300));

  private final Random random;

  RandomMessages(Random random) {
    this.random = random;
  }

  DynamicMessage of(Descriptor type) {
    return of(type, DEPTH);
  }

  private DynamicMessage of(Descriptor type, int depth) {
    DynamicMessage.Builder message = DynamicMessage.newBuilder(type);
    for (FieldDescriptor field : type.getFields()) {
      if (random.nextInt(3) == 0) {
        continue;
      }
      if (field.isRepeated()) {
        for (int count = random.nextInt(4); count > 0 && depth > 0; count--) {
          message.addRepeatedField(field, value(field, depth));
        }
      } else if (field.getJavaType() != FieldDescriptor.JavaType.MESSAGE || depth > 0) {
        message.setField(field, value(field, depth));
      }
    }
    return message.build();
  }

  private Object value(FieldDescriptor field, int depth) {
    return switch (field.getJavaType()) {
      case INT -> (int) number();
      case LONG -> number();
      case FLOAT -> random.nextFloat();
      case DOUBLE -> random.nextDouble();
      case BOOLEAN -> random.nextBoolean();
      case STRING -> TEXTS.get(random.nextInt(TEXTS.size()));
      case BYTE_STRING -> bytes();
      case ENUM -> enumValue(field);
      case MESSAGE -> of(field.getMessageType(), depth - 1);
    };
  }

  private long number() {
    int at = random.nextInt(NUMBERS.length + 1);
    return at < NUMBERS.length ? NUMBERS[at] : random.nextLong();
  }

  private ByteString bytes() {
    return random.nextInt(4) == 0
        ? ByteString.copyFrom(Mutations.random(random, 40))
        : ByteString.copyFromUtf8(TEXTS.get(random.nextInt(TEXTS.size())));
  }

  private EnumValueDescriptor enumValue(FieldDescriptor field) {
    List<EnumValueDescriptor> all = field.getEnumType().getValues();
    return all.get(random.nextInt(all.size()));
  }
}
