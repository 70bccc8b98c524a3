/* SPDX-License-Identifier: Apache-2.0 */
/* A header with one of everything that the generator knows. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <window.h>

#define __CUDA_API_PTSZ(api) api
#define toyOpen toyOpen_v2
#define toyQueue __CUDA_API_PTSZ(toyQueue)
#define TOY_VERSION 2050
#define TOY_DEFAULT_BOX ((toyBox)0x1)
#define TOY_CALL
enum { TOY_LIMIT = 8 };

typedef enum toyError_enum { TOY_SUCCESS = 0, TOY_MISSING = 5, TOY_ABSENT = 5 } toyResult;
typedef enum { TOY_RED = 1, TOY_BLUE = -2 } toyColor;
typedef toyColor toyInk;
typedef enum toyProperty { TOY_PROPERTY_WIDTH, TOY_PROPERTY_NAME } toyProperty;

typedef struct toyBox_st* toyBox;
typedef unsigned long long toyId;
typedef void (*toyListener)(toyBox box, void* userData);

typedef struct toySize_st {
  size_t width;
  const char* label;
} toySize_v1;
typedef toySize_v1 toySize;
typedef struct {
  int count;
} toyTotals;
typedef union toyValue_union {
  struct toyPair_st {
    int first, second;
  } pair;
  struct {
    toyBox box;
    union {
      float scale;
      double exact;
    };
  } inner;
  char pad[16];
} toyValue;
typedef struct __attribute__((aligned(64))) toyMap_st {
  toySize* sizes;
  void** kernelParams;
  toyColor palette[2];
  toyListener listener;
  toyWindow window;
} toyMap;

/** \param box - Returned box \param title - Its title */
toyResult TOY_CALL toyOpen_v2(toyBox* box, const char* title, unsigned int flags);
toyResult toyQueue(toyBox box, const toySize size, toyValue* value);
/** \param capacity - In: room; out: how many \param boxes - See description */
toyResult toyList(toyBox* boxes, size_t* numBoxes);
toyResult toyPack(const toyBox* boxes, const char** names, unsigned int count, void* data);
/** \param value - Returned value of the property \param property - Which */
toyResult toyGetProperty(void* value, toyProperty property, toyBox box);
toyResult toyListen(toyBox box, toyListener listener, void* userData, toyId* id);
toyResult toyGetName(char* name, int len, toyBox box);
const char* toyErrorText(toyResult result);
toyResult toyShow(toyWindow window, int (*filter)(void*));
#ifdef TOY_INTERNAL
toyResult toyOpen_v1(toyBox* box);
#endif
