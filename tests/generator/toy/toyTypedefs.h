/* SPDX-License-Identifier: Apache-2.0 */
/* Says since when the functions of toy.h exist. */
typedef toyResult (*PFN_toyOpen_v1000)(toyBox* box);
typedef toyResult (*PFN_toyOpen_v2030)(toyBox* box, const char* title, unsigned int flags);
typedef toyResult (*PFN_toyQueue_v2050)(toyBox box, const toySize size, toyValue* value);
