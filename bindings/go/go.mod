module adapvae

go 1.19
