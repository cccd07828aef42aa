/** What the build does to the runnable jar after it was put together (decision 0143). */
@NullMarked
package io.troupe.packaging;

import org.jspecify.annotations.NullMarked;
