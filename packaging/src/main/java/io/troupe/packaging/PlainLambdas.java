package io.troupe.packaging;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Rewrites class files so that their lambdas come from {@code LambdaMetafactory.metafactory} where
 * they came from {@code altMetafactory}.
 *
 * <p>The Scala compiler makes every lambda serializable, javac those whose interface is. The JVM's
 * archives keep no class of such a lambda: each is made again in each start. Nothing in a member
 * serializes a lambda (Java serialization is off), so the plain form does the same.
 *
 * <p>A lambda stays as it is if it has marker interfaces, if its interface declares a method that
 * only a bridge of the lambda implements, or if its class casts something to Serializable: that may
 * be the lambda.
 */
final class PlainLambdas {
  private static final String FACTORY = "java/lang/invoke/LambdaMetafactory";
  private static final String SERIALIZABLE_FORM = "altMetafactory";
  private static final byte[] NAME = SERIALIZABLE_FORM.getBytes(StandardCharsets.US_ASCII);

  /** {@code LambdaMetafactory.FLAG_MARKERS} and {@code FLAG_BRIDGES}. */
  private static final int MARKERS = 2;

  private static final int BRIDGES = 4;

  private static final String PLAIN =
      "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;"
          + "Ljava/lang/invoke/MethodType;Ljava/lang/invoke/MethodHandle;"
          + "Ljava/lang/invoke/MethodType;)Ljava/lang/invoke/CallSite;";

  private final Function<String, Optional<byte[]>> classFiles;
  private int rewritten;
  private int kept;

  /**
   * @param classFiles the class file of an internal name ({@code java/util/List}), if it is known
   */
  PlainLambdas(Function<String, Optional<byte[]>> classFiles) {
    this.classFiles = classFiles;
  }

  /** How many lambdas were rewritten so far. */
  int rewritten() {
    return rewritten;
  }

  /** How many had to stay as they were so far, in classes that cast nothing to Serializable. */
  int kept() {
    return kept;
  }

  /** The class file with plain lambdas: the same array if there was nothing to rewrite. */
  byte[] of(byte[] classFile) {
    if (!mentionsSerializableForm(classFile)) {
      return classFile;
    }
    int before = rewritten;
    ClassReader reader = new ClassReader(classFile);
    if (castsToSerializable(reader)) {
      return classFile;
    }
    // Not with the reader's constants: the names of what went would stay.
    ClassWriter writer = new ClassWriter(0);
    reader.accept(new Rewriting(writer), 0);
    return rewritten == before ? classFile : writer.toByteArray();
  }

  /** To read 40,000 classes for the few that have such a lambda would take long. */
  private static boolean mentionsSerializableForm(byte[] classFile) {
    int last = classFile.length - NAME.length;
    for (int at = 0; at <= last; at++) {
      int same = 0;
      while (same < NAME.length && classFile[at + same] == NAME[same]) {
        same++;
      }
      if (same == NAME.length) {
        return true;
      }
    }
    return false;
  }

  private static boolean castsToSerializable(ClassReader reader) {
    boolean[] found = {false};
    MethodVisitor casts =
        new MethodVisitor(Opcodes.ASM9) {
          @Override
          public void visitTypeInsn(int opcode, String type) {
            found[0] |= opcode == Opcodes.CHECKCAST && type.equals("java/io/Serializable");
          }
        };
    reader.accept(
        new ClassVisitor(Opcodes.ASM9) {
          @Override
          public MethodVisitor visitMethod(
              int access,
              String name,
              String descriptor,
              @Nullable String signature,
              String @Nullable [] exceptions) {
            return casts;
          }
        },
        ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
    return found[0];
  }

  /** Whether the plain form makes an object that can be called in all the same ways. */
  private boolean canBePlain(String method, String factoryType, Object[] arguments) {
    int flags = (Integer) arguments[3];
    if ((flags & MARKERS) != 0) {
      return false;
    }
    if ((flags & BRIDGES) == 0) {
      return true;
    }
    String type = Type.getReturnType(factoryType).getInternalName();
    int count = (Integer) arguments[4];
    for (int i = 0; i < count; i++) {
      Type bridge = (Type) arguments[5 + i];
      if (!bridge.equals(arguments[0]) && mayDeclare(type, method, bridge.getDescriptor())) {
        return false;
      }
    }
    return true;
  }

  /** Whether the interface or one above it has this method, or is not known. */
  private boolean mayDeclare(String type, String method, String descriptor) {
    Optional<byte[]> classFile = classFiles.apply(type);
    if (classFile.isEmpty()) {
      return true;
    }
    ClassReader reader = new ClassReader(classFile.get());
    boolean[] found = {false};
    reader.accept(
        new ClassVisitor(Opcodes.ASM9) {
          @Override
          public @Nullable MethodVisitor visitMethod(
              int access,
              String name,
              String itsDescriptor,
              @Nullable String signature,
              String @Nullable [] exceptions) {
            found[0] |= name.equals(method) && itsDescriptor.equals(descriptor);
            return null;
          }
        },
        ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG);
    if (found[0]) {
      return true;
    }
    for (String above : reader.getInterfaces()) {
      if (mayDeclare(above, method, descriptor)) {
        return true;
      }
    }
    return false;
  }

  private final class Rewriting extends ClassVisitor {
    Rewriting(ClassWriter writer) {
      super(Opcodes.ASM9, writer);
    }

    @Override
    public MethodVisitor visitMethod(
        int access,
        String name,
        String descriptor,
        @Nullable String signature,
        String @Nullable [] exceptions) {
      MethodVisitor copy = super.visitMethod(access, name, descriptor, signature, exceptions);
      return new MethodVisitor(Opcodes.ASM9, copy) {
        @Override
        public void visitInvokeDynamicInsn(
            String method, String factoryType, Handle factory, Object... arguments) {
          if (!factory.getOwner().equals(FACTORY) || !factory.getName().equals(SERIALIZABLE_FORM)) {
            super.visitInvokeDynamicInsn(method, factoryType, factory, arguments);
          } else if (canBePlain(method, factoryType, arguments)) {
            rewritten++;
            Handle plain = new Handle(factory.getTag(), FACTORY, "metafactory", PLAIN, false);
            super.visitInvokeDynamicInsn(
                method, factoryType, plain, arguments[0], arguments[1], arguments[2]);
          } else {
            kept++;
            super.visitInvokeDynamicInsn(method, factoryType, factory, arguments);
          }
        }
      };
    }
  }
}
