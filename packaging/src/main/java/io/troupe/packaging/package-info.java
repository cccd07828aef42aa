/** Rewrites the runnable jar after the build has assembled it (decision 0143). */
@NullMarked
package io.troupe.packaging;

import org.jspecify.annotations.NullMarked;
