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
 * Rewrites class files so that lambdas use {@code LambdaMetafactory.metafactory} instead of {@code
 * altMetafactory}.
 *
 * <p>The Scala compiler makes every lambda serializable, javac those whose interface is
 * serializable. The JVM's archives cannot contain the class of such a lambda, so each start creates
 * it again. A member serializes no lambda (Java serialization is disabled), so the plain form is
 * equivalent.
 *
 * <p>A lambda is not rewritten if it has marker interfaces, if its interface declares a method that
 * only a bridge of the lambda implements, or if its class casts a value to Serializable, because
 * the value may be the lambda.
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

  /** Number of rewritten lambdas so far. */
  int rewritten() {
    return rewritten;
  }

  /**
   * Number of lambdas so far that could not be rewritten, in classes without a cast to
   * Serializable.
   */
  int kept() {
    return kept;
  }

  /** Returns the class file with plain lambdas: the same array if nothing was rewritten. */
  byte[] of(byte[] classFile) {
    if (!mentionsSerializableForm(classFile)) {
      return classFile;
    }
    int before = rewritten;
    ClassReader reader = new ClassReader(classFile);
    if (castsToSerializable(reader)) {
      return classFile;
    }
    // Without the reader's constants, which would keep the removed names.
    ClassWriter writer = new ClassWriter(0);
    reader.accept(new Rewriting(writer), 0);
    return rewritten == before ? classFile : writer.toByteArray();
  }

  /**
   * A fast check, because parsing 40,000 classes for the few with such a lambda would take long.
   */
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

  /** Whether the plain form creates an object that can be called in all the same ways. */
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

  /** Whether the interface or a superinterface declares this method, or is unknown. */
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
