/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef AG_BLAS_H
#define AG_BLAS_H

/*
 * OpenBLAS chooses its kernels when it is loaded, by the processor's model, and takes those for
 * processors of 2004 where it is older than the model: training then takes about half as long
 * again. This is what OPENBLAS_CORETYPE should be set to before the program is started anew, or
 * NULL: the kernels fit, or the variable is set already.
 */
const char *ag_blas_coretype(void);

#endif
